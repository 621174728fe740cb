import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Contract, ContractBody, ContractParams, ContractQuery } from '../api/contract.ts';
import { ServiceError } from '../foundation/errors.ts';
import { parse } from '../foundation/parse.ts';

/** A request with parsed parameters and body. */
export interface ParsedRequest<C extends Contract> {
  readonly params: ContractParams<C>;
  readonly query: ContractQuery<C>;
  readonly body: ContractBody<C>;
  /** URL of the service as the client calls it, without a trailing slash. */
  readonly baseUrl: string;
  /** Returns a header of the request. The name is in lower case. */
  readonly getHeader: (name: string) => string | undefined;
}

/** The matching path template and the parameters of the path, percent-decoded once. */
interface PathMatch {
  readonly template: string;
  readonly params: Readonly<Record<string, string>>;
}

const maxBodyBytes = 2 * 1024 * 1024;
const maxBodyDepth = 64;

/** Returns the template of the requested path: the documented path or an alias. */
export function matchRoute({ path, aliases }: Contract, lambdaEvent: Pick<APIGatewayProxyEvent, 'path'>): string {
  try {
    return matchPath([path, ...aliases], lambdaEvent.path)?.template ?? path;
  } catch {
    return path;
  }
}

/**
 * Parses a request with the schemas of its contract. Calls `onParams` with the parameters of the path, before the query
 * and the body can be invalid. Throws `InvalidPayload`, and `ResourceNotFound` for a path of no contract.
 */
export function parseRequest<C extends Contract>(
  contract: C,
  lambdaEvent: APIGatewayProxyEvent,
  onParams: (params: Readonly<Record<string, string>>) => void = () => {},
): ParsedRequest<C> {
  const match = matchPath([contract.path, ...contract.aliases], lambdaEvent.path);
  if (!match) throw new ServiceError('ResourceNotFound', 'The path is not found.');
  checkBodyDepth(lambdaEvent.body);
  if (contract.body && contract.body.type !== 'array' && !isObject(lambdaEvent.body))
    throw new ServiceError('InvalidPayload', 'The body must be a JSON object.');
  const params = contract.params && parse(contract.params, match.params);
  onParams(match.params);
  return {
    params: params as ContractParams<C>,
    query: (contract.query && parse(contract.query, lambdaEvent.queryStringParameters ?? {})) as ContractQuery<C>,
    body: (contract.body && parse(contract.body, lambdaEvent.body)) as ContractBody<C>,
    baseUrl: getBaseUrl(lambdaEvent, match),
    getHeader: (name) => getHeader(lambdaEvent, name),
  };
}

/** Returns false for a list, which a schema whose fields are all optional accepts, too. */
export const isObject = (body: unknown): boolean => typeof body === 'object' && body !== null && !Array.isArray(body);

/**
 * Returns the URL of the service as the client calls it. The path of the request context starts with the stage, or with
 * the base path of a custom domain.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
 */
function getBaseUrl(lambdaEvent: APIGatewayProxyEvent, { template }: Pick<PathMatch, 'template'>): string {
  const { domainName = '', path = '' } = lambdaEvent.requestContext;
  const length = template.split('/').filter((segment) => segment !== '').length;
  const segments = path.split('/').filter((segment) => segment !== '');
  const prefix = segments.slice(0, -length).map((segment) => `/${segment}`);
  return `${getHeader(lambdaEvent, 'x-forwarded-proto') ?? 'https'}://${domainName}${prefix.join('')}`;
}

/** Throws `InvalidPayload` (413) for a body of more than 2 MB, before it is parsed. */
export function checkBodySize({ body, isBase64Encoded }: APIGatewayProxyEvent): void {
  const bytes = isBase64Encoded ? ((body?.length ?? 0) * 3) / 4 : Buffer.byteLength(body ?? '');
  if (bytes > maxBodyBytes) throw new ServiceError('InvalidPayload', 'The body is larger than 2 MB.', { status: 413 });
}

/** Throws `InvalidPayload` if the body is nested more than 64 levels deep, which would overflow recursive functions. */
function checkBodyDepth(body: unknown): void {
  let level: unknown[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxBodyDepth)
      throw new ServiceError('InvalidPayload', `The body is nested more than ${maxBodyDepth} levels deep.`);
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
}

/** Reads an HTTP header; names are case-insensitive. */
export const getHeader = ({ headers }: Pick<APIGatewayProxyEvent, 'headers'>, name: string): string | undefined =>
  Object.entries(headers ?? {}).find(([header]) => header.toLowerCase() === name)?.[1];

/**
 * Matches the percent-encoded path against the templates (`/v3/customers/:applicationUsername`). Ignores the base path
 * of a custom domain and a trailing slash. Throws `InvalidPayload` for invalid percent encoding.
 */
export function matchPath(templates: readonly string[], encodedPath: string): PathMatch | undefined {
  const segments = splitSegments(encodedPath);
  for (const template of templates) {
    const params = matchSegments(splitSegments(template), segments);
    if (params) return { template, params };
  }
  return undefined;
}

const splitSegments = (path: string): string[] => path.split('/').filter((segment) => segment !== '');

function matchSegments(template: readonly string[], path: readonly string[]): Record<string, string> | undefined {
  const tail = path.slice(-template.length);
  if (tail.length !== template.length) return undefined;
  const fits = template.every((segment, index) => segment.startsWith(':') || segment === tail[index]);
  if (!fits) return undefined;
  const params = template.flatMap((segment, index) =>
    segment.startsWith(':') ? [[segment.slice(1), decodeSegment(tail[index] ?? '')]] : [],
  );
  return Object.fromEntries(params);
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new ServiceError('InvalidPayload', 'The path has invalid percent encoding.', { cause });
  }
}
