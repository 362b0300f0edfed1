import { ApiError } from '#core/errors.ts';
import { nearestOf } from '#core/text/nearest.ts';

const PATH_MAX = 160;

/** 404 for an unknown path, with the nearest known one. `known`: paths in the router's notation. */
export function unknownPath(path: string, known: readonly string[]): ApiError {
  const nearest = path.length > PATH_MAX ? null : nearestPath(path, known);
  const detail =
    nearest === null ? 'The path does not exist. The reference is at /v1/docs.' : `The path does not exist. Did you mean ${nearest}?`;
  return new ApiError('not_found', { detail, meta: { reason: 'unknown_path', ...(nearest === null ? {} : { nearest }) } });
}

/**
 * Nearest path in the reference's notation. The path differs by an extra slash, case, a missing version or one character, else is the only
 * one that contains the path's segments.
 */
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
  const [only, ...others] = new Set(known.filter((route) => hasSegments(route.split('/'), plain.split('/'))));
  return only === undefined || others.length > 0 ? null : written(only);
}

/** True if the path's segments are a subsequence of the route's, with the same last segment. */
function hasSegments(route: string[], segments: string[]): boolean {
  let at = 0;
  for (const segment of route) if (segment === segments[at]) at++;
  return at === segments.length && route.at(-1) === segments.at(-1);
}

const written = (route: string): string => route.replace(/:(\w+)(?:\{[^}]+\})?/g, '{$1}');

const isParameter = (segment: string): boolean => segment.startsWith(':');

/** True if the number of segments is equal and each literal segment matches exactly or almost. */
function isNear(route: string, path: string): boolean {
  const [segments, parts] = [route.split('/'), path.split('/')];
  return (
    segments.length === parts.length &&
    segments.every((segment, index) => isParameter(segment) || segment === parts[index] || nearestOf(parts[index]!, [segment]) !== null)
  );
}

function filled(route: string, path: string): string {
  const parts = path.split('/');
  return route
    .split('/')
    .map((segment, index) => (isParameter(segment) ? parts[index]! : segment))
    .join('/');
}
