export async function mountFaults(body, session) {}
