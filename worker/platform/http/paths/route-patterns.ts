interface Route {
  method: string;
  path: string;
}

interface Pattern {
  route: Route;
  pattern: RegExp;
}

const patternOf = (route: Route): Pattern => ({
  route,
  pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replace(/\{[^}]+\}|:[^/]+/g, '[^/]+')}$`),
});

/** Returns the table's routes that match a path, with any method, without middleware. Compiled on first use. */
export function matcherOf(table: () => readonly Route[]): (path: string) => Route[] {
  let patterns: Pattern[] | null = null;
  return (path) => {
    patterns ??= table()
      .filter(({ method }) => method !== 'ALL')
      .map(patternOf);
    return patterns.flatMap(({ route, pattern }) => (pattern.test(path) ? [route] : []));
  };
}

export const isPublished = ({ method, path }: Route): boolean => method !== 'ALL' && !/^\/(?:v1\/operator|dev)\//.test(path);
