import { type MeteredAccess, MeteredGate, type MeteredOptions } from './metered.ts';

/** Request of a Node server, as Express and Fastify have it. */
export interface NodeRequest {
  method: string;
  url: string;
  headers: Record<string, string | string[] | undefined>;
  /** Body from a parser. Undefined: the stream is read. */
  body: unknown;
  stream: AsyncIterable<unknown>;
}

type MeteredAdmission = { access: MeteredAccess; headers: Headers; answer?: never } | { answer: Response; access?: never; headers?: never };

/** Longer than any announcement that the gate reads. */
const BODY_MAX = 65_536;

/** Returns a gate for servers with handlers that send the answer themselves: the access with headers to send, or the finished answer. */
export function newMeteredGate(options: MeteredOptions): (request: NodeRequest) => Promise<MeteredAdmission> {
  const gate = new MeteredGate(options);
  return async (request) => {
    const admitted: MeteredAccess[] = [];
    const answer = await gate.answer(await toWebRequest(request), (access) => {
      admitted.push(access);
      return new Response(null);
    });
    const [access] = admitted;
    return access ? { access, headers: answer.headers } : { answer };
  };
}

async function toWebRequest({ method, url, headers: given, body, stream }: NodeRequest): Promise<Request> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) if (value !== undefined && !name.startsWith(':')) headers.set(name, String(value));
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(url, { method, headers, body: hasBody ? await readBody(body, stream) : null });
}

/** Returns the body from an earlier parser or the stream, truncated beyond the length of an announcement. */
async function readBody(body: unknown, stream: AsyncIterable<unknown>): Promise<string> {
  if (body !== undefined) return typeof body === 'string' ? body : JSON.stringify(body);
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > BODY_MAX) break;
  }
  return text;
}
