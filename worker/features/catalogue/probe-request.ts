import { type HttpRoute, isBodyMethod, parametersOf } from '#protocols/x402/discovery.ts';
import type { ProbeRequest } from '#rules/catalogue/listing.ts';

/** Request of the example of a route. Null if its path has a parameter without an example. */
export function requestOfRoute(origin: string, { method, path, query, body_type: bodyType, example }: HttpRoute): ProbeRequest | null {
  const values = example?.path_params ?? {};
  if (parametersOf(path).some((name) => !Object.hasOwn(values, name))) return null;
  const pathname = path
    .split('/')
    .map((segment) => (segment.startsWith(':') ? encodeURIComponent(String(values[segment.slice(1)])) : segment))
    .join('/');
  const search = query || example?.query ? searchOf(example?.query ?? {}) : '';
  const sent = isBodyMethod(method) ? bodyOf(bodyType ?? 'json', example?.body ?? {}) : {};
  return { method, url: `${origin}${pathname}${search}`, ...sent };
}

/** Query of values as shops read them: a list repeats its name. */
export function searchOf(values: Record<string, unknown>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, textOf(one));
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

const BOUNDARY = 'svc-catalogue';

export function bodyOf(type: string, value: unknown): { body: string; contentType: string } {
  switch (type) {
    case 'text':
      return { body: typeof value === 'string' ? value : JSON.stringify(value), contentType: 'text/plain' };
    case 'form-data': {
      const fields = Object.entries(typeof value === 'object' && value !== null ? value : {});
      const parts = fields.map(
        ([name, field]) =>
          `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${encodeURIComponent(name)}"\r\n\r\n${textOf(field)}\r\n`,
      );
      return { body: `${parts.join('')}--${BOUNDARY}--\r\n`, contentType: `multipart/form-data; boundary=${BOUNDARY}` };
    }
    default:
      return { body: JSON.stringify(value), contentType: 'application/json' };
  }
}
