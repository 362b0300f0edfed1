import { setTimeout as sleep } from 'node:timers/promises';

interface Answer<T> {
  status: number;
  body: T;
}

export interface ApiFailure {
  code: string;
  detail: unknown;
  meta: { reason?: string };
  request_id: string;
}

const TIMEOUT_MS = 30_000;
const RETRY_EVERY_MS = 100;

interface CallOptions {
  credential?: string;
  body?: unknown;
  idempotencyKey?: string;
}

export class Api {
  readonly baseUrl: string;
  constructor(baseUrl: string) {
    this.baseUrl = baseUrl;
  }

  /** Sends one request. `credential` is an API key or a session token, and its form selects the header. */
  async call<T>(method: string, path: string, { credential, body, idempotencyKey }: CallOptions = {}): Promise<Answer<T>> {
    const headers: Record<string, string> = { accept: 'application/json' };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (credential?.startsWith('svc_')) headers['x-svc-key'] = credential;
    else if (credential) headers.authorization = `Bearer ${credential}`;
    if (idempotencyKey) headers['idempotency-key'] = idempotencyKey;
    const request = new Request(`${this.baseUrl}${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { status, text } = await answerTo(request, { isRepeatable: method === 'GET' || idempotencyKey !== undefined });
    return { status, body: (text === '' ? null : parseJson(text)) as T };
  }

  async must<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const { status, body } = await this.call<T>(method, path, options);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }
}

/**
 * Asks again while a worker is being started again: always where the connection was refused, for then nothing has arrived, and
 * after a broken connection where asking twice does no harm.
 */
async function answerTo(request: Request, { isRepeatable }: { isRepeatable: boolean }): Promise<{ status: number; text: string }> {
  for (;;) {
    try {
      const response = await fetch(request.clone());
      return { status: response.status, text: await response.text() };
    } catch (error) {
      const cause = (error as { cause?: NodeJS.ErrnoException }).cause;
      if (request.signal.aborted || !(cause?.code === 'ECONNREFUSED' || isRepeatable)) {
        throw new Error(`${request.method} ${request.url} got no answer: ${cause?.message ?? error}`, { cause: error });
      }
    }
    await sleep(RETRY_EVERY_MS);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
