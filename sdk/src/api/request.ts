import { SDK_VERSION } from '../generated/operations.ts';
import type { Call } from './call.ts';

interface Sender {
  baseUrl: string;
  credential: string | undefined;
  key: string | null;
  mode: string | undefined;
}

/** Request of one attempt, to which `fetch` needs only a signal. */
export interface Prepared {
  method: string;
  url: string;
  headers: Headers;
  body: string | null;
}

/** Prepares the request of an attempt. Headers of the caller replace those of the client. */
export function prepareRequest({ operation, params, query, body, options }: Call, { baseUrl, credential, key, mode }: Sender): Prepared {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(name, params?.[name]));
  const url = new URL(baseUrl + path);
  for (const [name, value] of Object.entries(mode === undefined ? { ...query } : { ...query, mode }))
    if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
  const headers = new Headers({ Accept: operation.answersBytes ? '*/*' : 'application/json' });
  const agent = runtimeName();
  if (agent) headers.set('X-Svc-Client', `ts/${SDK_VERSION} ${agent}`);
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  new Headers(options?.headers).forEach((value, name) => {
    headers.set(name, value);
  });
  if (key !== null) headers.set('Idempotency-Key', key);
  // A buyer's credential replaces the client's.
  if (credential && !headers.has('Authorization'))
    headers.set(
      ...((credential.startsWith('svc_') ? ['X-Svc-Key', credential] : ['Authorization', `Bearer ${credential}`]) as [string, string]),
    );
  return { method: operation.verb, url: url.href, headers, body: body === undefined ? null : JSON.stringify(body) };
}

/** Throws if a value would name another path: an empty one, or dots, which a URL resolves. */
function segmentOf(name: string, value: unknown): string {
  const text = String(value ?? '');
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`${name} is ${JSON.stringify(value)}. Pass the id of an object`);
  return encodeURIComponent(text);
}

interface Runtime {
  document?: unknown;
  importScripts?: unknown;
  navigator?: { userAgent?: string };
  process?: { versions?: Record<string, string | undefined> };
  Deno?: { version?: { deno?: string } };
}

/** Returns name and version of the runtime. Empty in browsers: a preflight does not allow the header. */
function runtimeName(): string {
  const { document, importScripts, navigator, process, Deno } = globalThis as Runtime;
  if (document !== undefined || importScripts !== undefined) return '';
  if (navigator?.userAgent?.startsWith('Cloudflare-Workers')) return 'workerd/0';
  if (Deno) return `deno/${Deno.version?.deno ?? 0}`;
  const { bun, node } = process?.versions ?? {};
  return bun ? `bun/${bun}` : node ? `node/${node}` : 'other/0';
}

const CREDENTIAL = /^(?:x-svc-key|x-svc-identity-session|authorization|proxy-authorization|payment-signature|cookie)$|-secret$/i;

export function withoutCredentials(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => !CREDENTIAL.test(name)));
}
