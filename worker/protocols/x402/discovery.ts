/**
 * Description of what a product sells: the routes that take its payments, as merchants send it and as it is stored. Pure.
 * (x402-foundation/x402, specs/extensions/bazaar.md)
 * @module
 */

export const QUERY_METHODS = ['GET', 'HEAD', 'DELETE'] as const;
export const BODY_METHODS = ['POST', 'PUT', 'PATCH'] as const;
export const ROUTE_METHODS = [...QUERY_METHODS, ...BODY_METHODS] as const;
export const BODY_TYPES = ['json', 'form-data', 'text'] as const;
export const TRANSPORTS = ['streamable-http', 'sse'] as const;
export const ROUTES_MAX = 20;
export const ROUTE_BYTES_MAX = 1_280;

type Values = Record<string, unknown>;

export interface HttpRoute {
  method: (typeof ROUTE_METHODS)[number];
  path: string;
  summary?: string | undefined;
  mime_type: string;
  path_params?: Values | undefined;
  query?: Values | undefined;
  body?: Values | undefined;
  body_type?: (typeof BODY_TYPES)[number] | undefined;
  example?: { path_params?: Values | undefined; query?: Values | undefined; body?: Values | undefined } | undefined;
  output_example?: unknown;
}

export interface ToolRoute {
  tool_name: string;
  path: string;
  summary?: string | undefined;
  input_schema: Values;
  example?: Values | undefined;
  output_example?: unknown;
  transport?: (typeof TRANSPORTS)[number] | undefined;
}

export type Route = HttpRoute | ToolRoute;

export interface Discovery {
  listed: boolean;
  service_name?: string | undefined;
  tags?: string[] | undefined;
  icon_url?: string | undefined;
  routes: Route[];
}

export const isToolRoute = (route: Route): route is ToolRoute => 'tool_name' in route;
export const isBodyMethod = (method: string): boolean => (BODY_METHODS as readonly string[]).includes(method);

const PARAMETER = /^:([a-zA-Z_][a-zA-Z0-9_]*)$/;
const parameterOf = (segment: string): string | undefined => PARAMETER.exec(segment)?.[1];

/** Names of the parameters of a path, in order. */
export const parametersOf = (path: string): string[] => path.split('/').flatMap((segment) => parameterOf(segment) ?? []);

/** Equal for two paths that match the same URLs. */
export const shapeOf = (path: string): string =>
  JSON.stringify(path.split('/').map((segment) => (parameterOf(segment) === undefined ? decoded(segment) : null)));

/** Values of the parameters if the path of a URL matches, else null. A parameter matches one segment that is not empty. */
export function matchPath(path: string, pathname: string): Record<string, string> | null {
  const [expected, actual] = [path.split('/'), pathname.split('/')];
  if (expected.length !== actual.length) return null;
  const values: Record<string, string> = {};
  for (const [index, segment] of expected.entries()) {
    const name = parameterOf(segment);
    const value = decoded(actual[index]!);
    if (name === undefined ? decoded(segment) !== value : value === '') return null;
    if (name !== undefined) values[name] = value;
  }
  return values;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Request that a challenge is made for. Without a method or tool it is not known how the resource is called. */
export interface ResourceCall {
  url: string;
  method?: string | undefined;
  toolName?: string | undefined;
}

export interface MatchedRoute {
  route: Route;
  /** Real values of the path's parameters. */
  pathParams: Record<string, string>;
}

/** First route that describes a call. */
export function matchRoute(routes: readonly Route[], { url, method, toolName }: ResourceCall): MatchedRoute | null {
  const pathname = URL.canParse(url) ? new URL(url).pathname : null;
  for (const route of routes) {
    if (isToolRoute(route)) {
      if (toolName === route.tool_name) return { route, pathParams: {} };
    } else if (method === route.method && pathname !== null) {
      const pathParams = matchPath(route.path, pathname);
      if (pathParams) return { route, pathParams };
    }
  }
  return null;
}
