export async function mountWeek(body, session) {}
