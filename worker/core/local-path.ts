/** Paths are resolved against it; no request goes there, because no host has this name. (RFC 6761) */
const RESERVED_ORIGIN = 'https://local.invalid';
/** Of what a browser makes of it: a letter outside ASCII takes up to nine characters there. */
const LENGTH_MAX = 2000;

/**
 * The path, with its query, that a person goes to next on this site, as a browser would resolve it; null for whatever might lead to another
 * one. A path begins with one slash: two, or a backslash, begin a host (WHATWG URL), and control characters are left out by browsers.
 */
export function localPathOf(text: string): string | null {
  if (!/^\/(?![/\\])/.test(text) || /[\p{Cc}#]/u.test(text)) return null;
  const { origin, pathname, search } = new URL(text, RESERVED_ORIGIN);
  const path = `${pathname}${search}`;
  return origin === RESERVED_ORIGIN && !pathname.startsWith('//') && path.length <= LENGTH_MAX ? path : null;
}
