import { ApiError } from '#core/errors.ts';
import { nearestOf } from '#core/text/nearest.ts';

/** Longer than any path there is; what is longer is compared with none. */
const PATH_MAX = 160;

/** 404 for a path that does not exist, with the one that comes nearest. `known` are the paths there are, as the router writes them. */
export function unknownPath(path: string, known: readonly string[]): ApiError {
  const nearest = path.length > PATH_MAX ? null : nearestPath(path, known);
  const detail =
    nearest === null ? 'The path does not exist. The reference is at /v1/docs.' : `The path does not exist. Did you mean ${nearest}?`;
  return new ApiError('not_found', { detail, meta: { reason: 'unknown_path', ...(nearest === null ? {} : { nearest }) } });
}

/** As the reference writes it: of one with a slash too many, in capitals, without the version, or with a letter wrong; else the only one that has its words and more. */
function nearestPath(path: string, known: readonly string[]): string | null {
  const plain = path
    .toLowerCase()
    .replace(/\/{2,}/g, '/')
    .replace(/(?<=.)\/$/, '');
  for (const meant of [plain, `/v1${plain}`]) {
    const near = new Map(known.filter((route) => isNear(route, meant)).map((route) => [filled(route, meant), route]));
    const nearest = near.has(meant) ? meant : nearestOf(meant, [...near.keys()]);
    if (nearest !== null) return written(near.get(nearest)!);
  }
  const [only, ...others] = new Set(known.filter((route) => hasWords(route.split('/'), plain.split('/'))));
  return only === undefined || others.length > 0 ? null : written(only);
}

/** True if the words of a path are among those of the route, in the same order, with the same last one. */
function hasWords(route: string[], words: string[]): boolean {
  let at = 0;
  for (const word of route) if (word === words[at]) at++;
  return at === words.length && route.at(-1) === words.at(-1);
}

const written = (route: string): string => route.replace(/:(\w+)(?:\{[^}]+\})?/g, '{$1}');

const isPlace = (word: string): boolean => word.startsWith(':');

/** As many words, and each of the route's own is the path's or almost. */
function isNear(route: string, path: string): boolean {
  const [words, parts] = [route.split('/'), path.split('/')];
  return (
    words.length === parts.length &&
    words.every((word, index) => isPlace(word) || word === parts[index] || nearestOf(parts[index]!, [word]) !== null)
  );
}

/** A route's path with what stands in its places in this one, so that only its own words are compared. */
function filled(route: string, path: string): string {
  const parts = path.split('/');
  return route
    .split('/')
    .map((word, index) => (isPlace(word) ? parts[index]! : word))
    .join('/');
}
