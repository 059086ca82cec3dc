export async function mountPoll(body, session) {}
