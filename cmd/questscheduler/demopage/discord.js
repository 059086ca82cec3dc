export async function mountDiscord(body, session) {}
