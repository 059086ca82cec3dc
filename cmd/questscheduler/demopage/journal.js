export async function mountJournal(body, session) {}
