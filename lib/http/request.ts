import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Contract, ContractBody, ContractParams, ContractQuery } from '../api/contract.ts';
import { ServiceError } from '../foundation/errors.ts';
import { parse } from '../foundation/parse.ts';
import { getBaseUrl } from './base-url.ts';
import { checkBodyDepth } from './body-limits.ts';
import { getHeader } from './get-header.ts';
import { matchPath } from './match-path.ts';

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
  if (contract.body && contract.body.type !== 'array') requireObject(lambdaEvent.body);
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

/** A schema whose fields are all optional also accepts a list. */
function requireObject(body: unknown): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ServiceError('InvalidPayload', 'The body must be a JSON object.');
}
