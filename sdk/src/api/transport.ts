import { SvcError, withFacts } from '../errors/svc-error.ts';
import { API_VERSION } from '../generated/operations.ts';
import type { Answer, Call, CallOptions, ClientOptions, RequestFacts, ResponseFacts } from './call.ts';
import { parseJson, toSvcError, UNDECIDED } from './errors.ts';
import { idempotencyKey } from './keys.ts';
import type { Operation } from './operations.ts';
import { type Prepared, prepareRequest, readHeaders, withoutCredentials, withoutToken } from './request.ts';
import { abortable, sleep } from './signals.ts';

interface Attempt {
  call: Call;
  request: Prepared;
  signals: AbortSignal[];
  timeoutMs: number;
  facts: RequestFacts;
  /** True if an earlier attempt may have succeeded. */
  isAmbiguous: boolean;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_SETTLE_TIMEOUT_MS = 30_000;
const DEFAULT_RETRIES = 2;
const DEFAULT_RETRY_AFTER_SECONDS = 30;
const BACKOFF_FIRST_MS = 200;
const BACKOFF_MAX_MS = 4_000;
const REPEATED_REFUSALS = ['rate_limited', ...UNDECIDED];

/** Errors of runtimes for a connection that was not opened. After any other failure the service may have acted. */
const REFUSED =
  /ECONNREFUSED|ConnectionRefused|FailedToOpenSocket|connection refused|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|dns error/i;

/** Sends calls with one credential, a timeout per attempt, and retries only if harmless. */
export class Transport {
  readonly #options: ClientOptions;
  readonly #baseUrl: string;
  readonly #fetch: (request: Request) => Promise<Response>;
  #hasWarned = false;

  constructor(options: ClientOptions) {
    requireBaseUrl(options.baseUrl);
    // An empty key is usually an unset environment variable, which only the service would notice.
    if ('key' in options && !options.key) throw new TypeError('key is empty. Leave it out to call public routes only');
    if (!/^[\x21-\x7e]*$/.test(options.key ?? ''))
      throw new TypeError('key has a space, a line break or another character that no key has. Pass it exactly as it was shown');
    this.#options = options;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, '');
    // workerd refuses `fetch` called as a method, so each call resolves and calls it unbound.
    this.#fetch = options.fetch ?? ((request) => fetch(request));
  }

  /** Sends a call, and repeats it as its operation allows. Rejects with an SvcError, or with the reason of a signal. */
  async call(call: Call): Promise<unknown> {
    try {
      return await this.#repeat(call);
    } catch (thrown) {
      if (!(thrown instanceof SvcError) || thrown.docsUrl !== '') throw thrown;
      throw withFacts(thrown, { docsUrl: `${this.#baseUrl}/docs/errors/${thrown.code}` });
    }
  }

  async #repeat(call: Call): Promise<unknown> {
    const { operation, options = {} } = call;
    const key = operation.verb === 'GET' ? null : keyOf(options);
    const signals = [this.#options.signal, options.signal].filter((one) => one !== undefined);
    const maxRetries = options.maxRetries ?? this.#options.maxRetries ?? DEFAULT_RETRIES;
    let isAmbiguous = false;
    for (let attempt = 1; ; attempt++) {
      for (const signal of signals) signal.throwIfAborted();
      const sent = this.#newAttempt(call, { key, signals, attempt, isAmbiguous });
      try {
        return await this.#send(sent);
      } catch (thrown) {
        if (!(thrown instanceof SvcError)) throw thrown;
        isAmbiguous ||= thrown.isAmbiguous;
        const failure = isAmbiguous === thrown.isAmbiguous ? thrown : withFacts(thrown, { isAmbiguous });
        if (attempt > maxRetries || !mayRepeat(operation, thrown)) throw failure;
        const waitMs = this.#waitMs(failure, attempt, options);
        callHook(this.#options.onRetry, { ...sent.facts, error: failure, waitMs });
        await sleep(waitMs, signals);
        const answer = await call.beforeRepeat?.(failure);
        if (answer !== undefined) return answer;
      }
    }
  }

  #newAttempt(call: Call, sent: { key: string | null; signals: AbortSignal[]; attempt: number; isAmbiguous: boolean }): Attempt {
    const { operation, options = {} } = call;
    const mode = operation.takesMode ? (options.mode ?? this.#options.mode) : undefined;
    const request = prepareRequest(call, { baseUrl: this.#baseUrl, credential: this.#options.key, key: sent.key, mode });
    const { method, publicUrl: url } = request;
    const { settleTimeoutMs, timeoutMs = operation.waitsForChain ? DEFAULT_SETTLE_TIMEOUT_MS : DEFAULT_TIMEOUT_MS } = this.#options;
    return {
      call,
      request,
      signals: sent.signals,
      timeoutMs: options.timeoutMs ?? (operation.waitsForChain ? settleTimeoutMs : undefined) ?? timeoutMs,
      facts: { operationId: operation.id, method, url, headers: withoutCredentials(request.headers), attempt: sent.attempt },
      isAmbiguous: sent.isAmbiguous,
    };
  }

  async #send(attempt: Attempt): Promise<unknown> {
    const { facts, isAmbiguous, request } = attempt;
    callHook(this.#options.onRequest, facts);
    const startedAt = Date.now();
    const { response, text } = await this.#exchange(attempt);
    const { status, headers } = response;
    const requestId = headers.get('X-Svc-Request-Id') ?? headers.get('X-Request-Id');
    callHook(this.#options.onResponse, { ...facts, status, requestId, durationMs: Date.now() - startedAt });
    this.#warnOfOtherVersion(headers.get('X-Svc-Api-Version'));
    if (!response.ok) throw toSvcError(response, withoutToken(text ?? '', request));
    if (text === null) return response;
    const body = status === 204 ? {} : parseJson(text);
    if (typeof body !== 'object' || body === null) throw toSvcError(response, withoutToken(text, request));
    const replayed = headers.get('Idempotent-Replayed') === 'true';
    return withResponse(body, replayed, { status, headers, requestId, isAmbiguous });
  }

  /** Exchanges one request within the timeout, even if the given `fetch` ignores signals. The text of bytes is null. */
  async #exchange({ call, request, signals, timeoutMs }: Attempt): Promise<{ response: Response; text: string | null }> {
    const name = `${request.method} ${call.operation.path}`;
    const exchange = async (signal: AbortSignal) => {
      // The service never redirects, and another server must not get the key.
      const { url, method, headers, body } = request;
      const response = await this.#fetch(new Request(url, { method, headers, body, redirect: 'manual', signal }));
      return { response, text: call.operation.answersBytes && response.ok ? null : await response.text() };
    };
    const late = () =>
      new SvcError('request_timeout', `${name} was not answered within ${timeoutMs} ms`, { retryable: true, isAmbiguous: true });
    try {
      return await abortable(exchange, { signals, timeoutMs, late });
    } catch (cause) {
      for (const signal of signals) signal.throwIfAborted();
      if (cause instanceof SvcError) throw cause;
      const reason = withoutToken(reasonOf(cause), request);
      const facts = { cause, retryable: true, isAmbiguous: !REFUSED.test(reason) };
      throw new SvcError('connection_failed', `${name} got no answer: ${reason}`, facts);
    }
  }

  /** Returns the delay before the next attempt: the service's request, otherwise exponential with jitter. Throws if it is too long. */
  #waitMs(failure: SvcError, attempt: number, options: CallOptions): number {
    const max = options.maxRetryAfterSeconds ?? this.#options.maxRetryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS;
    const asked = failure.retryAfterSeconds;
    if (asked !== null && asked > max) {
      const message = `${failure.message} Retry after ${asked} seconds: that is longer than maxRetryAfterSeconds (${max}).`;
      throw withFacts(failure, { message });
    }
    if (asked !== null) return asked * 1000;
    const ceiling = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (attempt - 1));
    return ceiling / 2 + Math.random() * (ceiling / 2);
  }

  #warnOfOtherVersion(version: string | null): void {
    if (version === null || this.#hasWarned || Number.parseInt(version, 10) === Number.parseInt(API_VERSION, 10)) return;
    this.#hasWarned = true;
    // biome-ignore lint/suspicious/noConsole: the service's next version may answer what this client does not expect.
    console.warn(`The service speaks version ${version} of its API, this client ${API_VERSION}. Update the package.`);
  }
}

/** Throws for a base URL to which no path can be added. The text omits the value, which may have a password. */
function requireBaseUrl(baseUrl: string): void {
  if (!/^https?:\/\/[^/]/.test(baseUrl) || !URL.canParse(baseUrl))
    throw new TypeError('baseUrl needs a scheme and a host, as in https://api.example.com');
  const { username, password } = new URL(baseUrl);
  if (username || password) throw new TypeError('baseUrl has a user or a password. Leave them out: the key is sent as a header');
  if (/[?#]/.test(baseUrl)) throw new TypeError('baseUrl has a query or a fragment. Leave it out: paths are added to the base URL');
}

/** Adds the facts of the transport, which JSON omits. */
export const withResponse = <T extends object>(body: T, replayed: boolean, response: ResponseFacts): Answer<T> =>
  Object.defineProperties(body, { replayed: { value: replayed }, response: { value: response } }) as Answer<T>;

/** Returns true if the same request may be sent again. An operation without idempotency only if nothing was sent. */
function mayRepeat({ isRepeatable }: Operation, error: SvcError): boolean {
  const { status, code, retryable } = error;
  if (!isRepeatable) return code === 'connection_failed' && !error.isAmbiguous;
  return status === 0 || status >= 500 ? retryable : REPEATED_REFUSALS.includes(code);
}

const keyOf = ({ idempotencyKey: given, headers }: CallOptions): string =>
  idempotencyKey(given ?? readHeaders(headers).get('Idempotency-Key') ?? undefined);

/** Returns the texts of a failure and its causes. Node names the reason in the cause only. */
function reasonOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  const { code } = failure as { code?: unknown };
  const own = typeof code === 'string' && !failure.message.includes(code) ? `${failure.message} (${code})` : failure.message;
  return failure.cause === undefined ? own : `${own}: ${reasonOf(failure.cause)}`;
}

/** Calls a hook of the caller. A hook that fails must not decide the call. */
export function callHook<T>(hook: ((facts: T) => unknown) | undefined, facts: T): void {
  try {
    void Promise.resolve(hook?.(facts)).catch(() => {});
  } catch {}
}
