export interface ConnectorEnv {
  SERVICE_URL: string;
  /** Must be one of the service's TELEGRAM_CONNECTOR_SECRETS or DISCORD_CONNECTOR_SECRETS. */
  CONNECTOR_SECRET: string;
}

export interface Reported {
  ok: boolean;
  detail: string;
}

const TRIES_MAX = 3;

const PAUSE_MAX_SECONDS = 30;

/** Returns the requested pause. Null if longer than a person waits. */
function pauseOf(response: Response): number | null {
  const seconds = Number(response.headers.get('Retry-After') ?? 1);
  return seconds <= PAUSE_MAX_SECONDS ? seconds * 1000 : null;
}

/**
 * Reports an identified person or a claimed chat to the service. Reports are idempotent, so a lost answer is retried, and a rate-limited
 * report is sent again after the service's pause.
 */
export async function report(
  { SERVICE_URL, CONNECTOR_SECRET }: ConnectorEnv,
  provider: 'telegram' | 'discord',
  what: 'identity' | 'claims',
  body: Record<string, unknown>,
): Promise<Reported> {
  const url = `${SERVICE_URL.replace(/\/$/, '')}/v1/integrations/connectors/${provider}/${what}`;
  const headers = { 'content-type': 'application/json', 'X-Svc-Connector-Secret': CONNECTOR_SECRET };
  for (let tries = 1; ; tries++) {
    try {
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(10_000) });
      const answer = (await response.json().catch(() => ({}))) as { detail?: unknown };
      const waitMs = response.status === 429 ? pauseOf(response) : response.status < 500 ? null : 0;
      if (waitMs === null || tries === TRIES_MAX)
        return { ok: response.ok, detail: typeof answer.detail === 'string' ? answer.detail : `HTTP ${response.status}` };
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    } catch {
      if (tries === TRIES_MAX) return { ok: false, detail: 'The service does not answer. Try again in a moment.' };
    }
  }
}

export const CLAIM_CODE = /\bclaim-[0-9A-Za-z]{16,48}\b/;
export const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
