const PATIENCE_MS = 5_000;

/** Posts an alarm to the operator's URL. Returns false if the post failed, and never throws. The URL is a secret and must not be logged. */
export async function postAlarm(url: string, alarm: object): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(alarm),
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
