import { parseJson, SvcError, toSvcError } from './errors.ts';
import { idempotencyKey } from './keys.ts';

export interface ClientOptions {
  /** Base URL of the service, for example `https://api.example.com`. */
  baseUrl: string;
  /** API key (`svc_…`, server-side only) or session token. Absent: public routes only. */
  key?: string;
  fetch?: (request: Request) => Promise<Response>;
  /** Timeout per attempt in milliseconds. Default 10 000. */
  timeoutMs?: number;
  /** Timeout per settlement attempt in milliseconds, which waits for the chain. Default 30 000. */
  settleTimeoutMs?: number;
  /** Maximum retries if repeating is safe. Default 2. */
  maxRetries?: number;
}

export interface CallOptions {
  /** Idempotency-Key of access writes. Generated if absent. Pass your own to make your own retry safe. */
  idempotencyKey?: string;
  timeoutMs?: number;
}

/** Transport facts of an answer, in its `response`, which JSON omits. */
export interface ResponseFacts {
  status: number;
  headers: Headers;
  requestId: string | null;
  /** True if an earlier attempt of the call may have succeeded. */
  isAmbiguous: boolean;
}

/** Service's answer with `replayed`: true if it repeats the stored answer of an earlier request with this Idempotency-Key. */
export type Answer<T> = T & { readonly replayed: boolean; readonly response: ResponseFacts };

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: object | undefined;
  body?: unknown;
  /**
   * `safe`: repeating changes nothing. `keyed`: sent with an Idempotency-Key, the same one in every attempt.
   * `once`: never repeated by us, because it would leave a second record.
   */
  repeat: 'safe' | 'keyed' | 'once';
  /** Buyer's credential, sent as `Authorization` instead of the client's key. */
  credential?: string | undefined;
  options?: CallOptions | undefined;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const BACKOFF_FIRST_MS = 200;
const BACKOFF_MAX_MS = 4_000;
/** Longer delays are left to the caller. The error carries Retry-After. */
const RETRY_AFTER_MAX_SECONDS = 10;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the delay before attempt `n + 1`: the service's request, otherwise exponential with jitter. Null: too long. */
export function waitBeforeRetryMs(error: SvcError, n: number): number | null {
  const asked = error.retryAfterSeconds;
  if (asked !== null) return asked <= RETRY_AFTER_MAX_SECONDS ? asked * 1000 : null;
  const ceiling = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** n);
  return ceiling / 2 + Math.random() * (ceiling / 2);
}

/** Sends calls with one credential, a timeout per attempt, and retries only if harmless. */
export class Transport {
  readonly maxRetries: number;
  readonly #options: ClientOptions;
  readonly #fetch: (request: Request) => Promise<Response>;

  constructor(options: ClientOptions) {
    if (!/^https?:\/\/[^/]/.test(options.baseUrl) || !URL.canParse(options.baseUrl))
      throw new TypeError(`baseUrl is ${JSON.stringify(options.baseUrl)}. It needs a scheme and a host, as in https://api.example.com`);
    // An empty key is usually an unset environment variable, which only the service would notice.
    if ('key' in options && !options.key) throw new TypeError('key is empty. Leave it out to call public routes only');
    this.#options = options;
    this.maxRetries = options.maxRetries ?? 2;
    // workerd refuses `fetch` called as a method, so each call resolves and calls it unbound.
    this.#fetch = options.fetch ?? ((request) => fetch(request));
  }

  async call<T>(call: Call): Promise<Answer<T>> {
    try {
      return await this.#repeat<T>(call);
    } catch (thrown) {
      throw this.documented(thrown as SvcError);
    }
  }

  /** Adds the documentation page of the code, also to errors that the service did not send. */
  documented(error: SvcError): SvcError {
    if (error.docsUrl !== '') return error;
    const docsUrl = `${this.#baseUrl}/docs/errors/${error.code}`;
    return new SvcError(error.code, error.message, { ...error, cause: error.cause, docsUrl });
  }

  get #baseUrl(): string {
    return this.#options.baseUrl.replace(/\/+$/, '');
  }

  async #repeat<T>(call: Call): Promise<Answer<T>> {
    const key = call.repeat === 'keyed' ? idempotencyKey(call.options?.idempotencyKey) : null;
    let isAmbiguous = false;
    for (let n = 0; ; n++) {
      try {
        return await this.#attempt<T>(call, key, { isAmbiguous });
      } catch (thrown) {
        const error = thrown as SvcError;
        isAmbiguous ||= error.isAmbiguous;
        const waitMs = call.repeat !== 'once' && error.retryable && n < this.maxRetries ? waitBeforeRetryMs(error, n) : null;
        if (waitMs === null)
          throw isAmbiguous === error.isAmbiguous ? error : new SvcError(error.code, error.message, { ...error, isAmbiguous });
        await sleep(waitMs);
      }
    }
  }

  async #attempt<T>(call: Call, key: string | null, { isAmbiguous }: { isAmbiguous: boolean }): Promise<Answer<T>> {
    const { response, text } = await this.#exchange(call, key);
    const replayed = response.headers.get('Idempotent-Replayed') === 'true';
    // A failing server may have acted. A refusal changed nothing.
    if (!response.ok) throw toSvcError(response, text, { isAmbiguous: response.status >= 500 });
    const body = text === '' ? {} : parseJson(text);
    if (typeof body !== 'object' || body === null) throw toSvcError(response, text, { isAmbiguous: true });
    const { status, headers } = response;
    const requestId = headers.get('X-Svc-Request-Id') ?? headers.get('X-Request-Id');
    const facts: ResponseFacts = { status, headers, requestId, isAmbiguous };
    return Object.defineProperties(body, { replayed: { value: replayed }, response: { value: facts } }) as Answer<T>;
  }

  /** Exchanges one request within the timeout, even if the given `fetch` ignores the signal. */
  async #exchange(call: Call, key: string | null): Promise<{ response: Response; text: string }> {
    const timeoutMs = call.options?.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const abort = new AbortController();
    const request = this.#request(call, key, abort.signal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const message = `${call.method} ${call.path} was not answered within ${timeoutMs} ms`;
        reject(new SvcError('request_timeout', message, { retryable: true, isAmbiguous: true }));
        abort.abort();
      }, timeoutMs);
    });
    const exchange = async () => {
      const response = await this.#fetch(request);
      return { response, text: await response.text() };
    };
    try {
      return await Promise.race([exchange(), late]);
    } catch (cause) {
      if (cause instanceof SvcError) throw cause;
      const message = `${call.method} ${call.path} got no answer: ${cause instanceof Error ? cause.message : String(cause)}`;
      throw new SvcError('connection_failed', message, { cause, retryable: true, isAmbiguous: true });
    } finally {
      clearTimeout(timer);
    }
  }

  #request(call: Call, key: string | null, signal: AbortSignal): Request {
    const url = new URL(`${this.#baseUrl}${call.path}`);
    for (const [name, value] of Object.entries(call.query ?? {})) if (value !== undefined) url.searchParams.set(name, String(value));
    const headers = new Headers({ accept: 'application/json' });
    const credential = this.#options.key;
    if (call.credential !== undefined) headers.set('Authorization', call.credential);
    else if (credential?.startsWith('svc_')) headers.set('X-Svc-Key', credential);
    else if (credential) headers.set('Authorization', `Bearer ${credential}`);
    if (key !== null) headers.set('Idempotency-Key', key);
    if (call.body !== undefined) headers.set('Content-Type', 'application/json');
    const body = call.body === undefined ? null : JSON.stringify(call.body);
    // The service never redirects, and another server must not get the key.
    return new Request(url, { method: call.method, headers, body, signal, redirect: 'manual' });
  }
}
