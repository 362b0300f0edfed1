/** Base for resolving paths. No request goes to this host, because the name is reserved. (RFC 6761) */
const RESERVED_ORIGIN = 'https://local.invalid';
/** Length after percent-encoding: a character outside ASCII takes up to nine. */
const LENGTH_MAX = 2000;

/**
 * Path and query on this site, resolved like a browser would, or null if it could lead to another site. Two slashes or a backslash begin a
 * host (WHATWG URL), and browsers drop control characters.
 */
export function localPathOf(text: string): string | null {
  if (!/^\/(?![/\\])/.test(text) || /[\p{Cc}#]/u.test(text)) return null;
  const { origin, pathname, search } = new URL(text, RESERVED_ORIGIN);
  const path = `${pathname}${search}`;
  return origin === RESERVED_ORIGIN && !pathname.startsWith('//') && path.length <= LENGTH_MAX ? path : null;
}
