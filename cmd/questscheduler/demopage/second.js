export async function mountSecond(body, session) {}
