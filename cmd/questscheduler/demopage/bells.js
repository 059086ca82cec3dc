export async function mountBells(body, session) {}
