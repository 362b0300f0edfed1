import { SDK_VERSION } from '../generated/operations.ts';
import type { Call, CallOptions } from './call.ts';

const PARAMETER = /\{(\w+)\}/g;

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
  /** URL for hooks and error texts: a token in the path is replaced by its name. */
  publicUrl: string;
  /** Path with its token, and as texts may show it. */
  path: string;
  publicPath: string;
  headers: Headers;
  body: string | null;
}

/** Prepares the request of an attempt. Headers of the caller replace those of the client. */
export function prepareRequest(call: Call, { baseUrl, credential, key, mode }: Sender): Prepared {
  const { operation, params, query, body, options } = call;
  const path = operation.path.replace(PARAMETER, (_, name: string) => segmentOf(name, params?.[name]));
  const publicPath = operation.path.replace(PARAMETER, (placeholder, name: string) =>
    name === 'token' ? placeholder : segmentOf(name, params?.[name]),
  );
  const url = new URL(baseUrl + path);
  for (const [name, value] of Object.entries(mode === undefined ? { ...query } : { ...query, mode }))
    if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
  const headers = new Headers({ Accept: operation.answersBytes ? '*/*' : 'application/json' });
  const agent = runtimeName();
  if (agent) headers.set('X-Svc-Client', `ts/${SDK_VERSION} ${agent}`);
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  readHeaders(options?.headers).forEach((value, name) => {
    headers.set(name, value);
  });
  if (call.authorization !== undefined)
    headers.set('Authorization', readHeaders({ Authorization: call.authorization }).get('Authorization')!);
  if (key !== null) headers.set('Idempotency-Key', key);
  // A buyer's credential replaces the client's.
  if (credential && !headers.has('Authorization'))
    headers.set(
      ...((credential.startsWith('svc_') ? ['X-Svc-Key', credential] : ['Authorization', `Bearer ${credential}`]) as [string, string]),
    );
  return {
    method: operation.verb,
    url: url.href,
    publicUrl: baseUrl + publicPath + url.search,
    path,
    publicPath,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  };
}

/** Removes the token of the request's path from a text of the network or of a proxy. */
export const withoutToken = (text: string, { path, publicPath }: Prepared): string => text.replaceAll(path, publicPath);

/** Reads a caller's headers. Throws without their values, which runtimes put into their own error texts. */
export function readHeaders(given: CallOptions['headers']): Headers {
  try {
    return new Headers(given);
  } catch {
    throw new TypeError('A header of the call has a name or a value that HTTP does not allow, such as one with a line break');
  }
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
