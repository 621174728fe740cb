import type { GatewayDocument, Integration } from './document.ts';

export interface RouteMatch {
  /** Path template, for example `/v3/customers/{applicationUsername}`. */
  readonly resource: string;
  readonly integration: Integration;
  /** Still percent-encoded. */
  readonly pathParameters: Readonly<Record<string, string>>;
}

export type MatchRoute = (method: string, path: string) => RouteMatch | undefined;

/** @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-swagger-extensions-any-method.html */
const anyMethod = 'x-amazon-apigateway-any-method';

/**
 * Creates the matcher for a REST API. Matches the encoded path. A literal segment takes precedence over a parameter,
 * and a parameter over a greedy one such as `{proxy+}`.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-method-settings-method-request.html
 */
export function createRouteMatcher({ paths }: GatewayDocument): MatchRoute {
  const templates = Object.entries(paths)
    .map(([resource, operations]) => ({ resource, operations, segments: splitSegments(resource) }))
    .sort((a, b) => toSortKey(a.segments).localeCompare(toSortKey(b.segments)));
  return (method, path) => {
    const pathSegments = splitSegments(path);
    const template = templates.find(({ segments }) => matchesTemplate(segments, pathSegments));
    const operation = template?.operations[method.toLowerCase()] ?? template?.operations[anyMethod];
    if (!template || !operation) return undefined;
    const { resource, segments } = template;
    const pathParameters = segments.flatMap((segment, index) =>
      isParameter(segment) ? [toPathParameter(segment, pathSegments.slice(index))] : [],
    );
    return {
      resource,
      integration: operation['x-amazon-apigateway-integration'],
      pathParameters: Object.fromEntries(pathParameters),
    };
  };
}

/** Splits a path at its slashes. Ignores one trailing slash. */
const splitSegments = (path: string): string[] => path.replace(/^\//, '').replace(/\/$/, '').split('/');

const isParameter = (segment: string): boolean => segment.startsWith('{');

/** A greedy segment matches all segments from its position. */
const isGreedy = (segment: string | undefined): boolean => segment?.endsWith('+}') ?? false;

const toPathParameter = (segment: string, [first = '', ...others]: readonly string[]) =>
  isGreedy(segment)
    ? ([segment.slice(1, -2), [first, ...others].join('/')] as const)
    : ([segment.slice(1, -1), first] as const);

const matchesTemplate = (template: readonly string[], path: readonly string[]): boolean =>
  (isGreedy(template.at(-1)) ? template.length <= path.length : template.length === path.length) &&
  template.every((segment, index) => (isParameter(segment) ? path[index] !== '' : segment === path[index]));

const toSortKey = (segments: readonly string[]): string =>
  segments.map((segment) => (isGreedy(segment) ? '2' : isParameter(segment) ? '1' : '0')).join('');
