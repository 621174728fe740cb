import type { GatewayDocument, Integration } from './document.ts';

/** The operation that a request is for. */
export interface RouteMatch {
  /** The path's template, for example `/v3/customers/{applicationUsername}`. */
  readonly resource: string;
  readonly integration: Integration;
  /** As they stand in the path, still encoded. */
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** Finds the operation of a method and a path. */
export type MatchRoute = (method: string, path: string) => RouteMatch | undefined;

/** The routes of a REST API: matched on the still encoded path, a literal segment before a parameter, from the left. */
export function createRouteMatcher({ paths }: GatewayDocument): MatchRoute {
  const templates = Object.entries(paths)
    .map(([resource, operations]) => ({ resource, operations, segments: splitSegments(resource) }))
    .sort((a, b) => toSortKey(a.segments).localeCompare(toSortKey(b.segments)));
  return (method, path) => {
    const given = splitSegments(path);
    const template = templates.find(({ segments }) => matchesTemplate(segments, given));
    const operation = template?.operations[method.toLowerCase()];
    if (!template || !operation) return undefined;
    const { resource, segments } = template;
    const pathParameters = segments.flatMap((segment, index) =>
      isParameter(segment) ? [[segment.slice(1, -1), given[index] ?? ''] as const] : [],
    );
    return {
      resource,
      integration: operation['x-amazon-apigateway-integration'],
      pathParameters: Object.fromEntries(pathParameters),
    };
  };
}

/** The segments between the slashes; one slash at the end does not count. */
const splitSegments = (path: string): string[] => path.replace(/^\//, '').replace(/\/$/, '').split('/');

const isParameter = (segment: string): boolean => segment.startsWith('{');

const matchesTemplate = (template: readonly string[], path: readonly string[]): boolean =>
  template.length === path.length &&
  template.every((segment, index) => (isParameter(segment) ? path[index] !== '' : segment === path[index]));

const toSortKey = (segments: readonly string[]): string =>
  segments.map((segment) => (isParameter(segment) ? '1' : '0')).join('');
