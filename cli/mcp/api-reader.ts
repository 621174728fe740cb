import * as v from 'valibot';
import type { Contract, ContractResponse } from '../../lib/api/contract.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { parseJson } from '../../lib/foundation/parse.ts';
import { secondMs } from '../../lib/foundation/time.ts';
import type { ApiConnection } from './api-connection.ts';

/** Parameters of the path and of the query. Undefined ones are omitted. */
interface ReadParameters {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** Reads the API of a service. It sends GET requests only. */
export interface ApiReader {
  /** Returns the response. Throws the error of the service, or `ConnectionFailed`. */
  read<C extends Contract & { readonly method: 'GET' }>(
    contract: C,
    parameters?: ReadParameters,
  ): Promise<ContractResponse<C>>;
}

/** Responds after the gateway, whose timeout is 29 s. */
const timeoutMs = 35 * secondMs;

const ApiError = v.object({ message: v.string() });
const ApiObject = v.looseObject({});

/** Creates a reader with the key of a connection. */
export function createApiReader({ url, app, key }: ApiConnection): ApiReader {
  const baseUrl = url.replace(/\/+$/, '');
  const headers = { authorization: `Basic ${Buffer.from(`${app}:${key}`).toString('base64')}` };
  return {
    async read<C extends Contract>(contract: C, { params = {}, query = {} }: ReadParameters = {}) {
      const target = `${baseUrl}${buildPath(contract.path, params)}${buildQuery(query)}`;
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const response = await fetch(target, { headers, signal, redirect: 'error' });
        const text = await response.text();
        if (!response.ok) throw toServiceError(response.status, text);
        // The tool validates the members that it returns. A newer service can have more.
        return parseJson(ApiObject, text, 'ConnectionFailed') as unknown as ContractResponse<C>;
      } catch (cause) {
        if (cause instanceof ServiceError) throw cause;
        throw new ServiceError('ConnectionFailed', 'The service is unavailable. Try again later.', { cause });
      }
    },
  };
}

const buildPath = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replaceAll(/:(\w+)/g, (_parameter, name: string) => encodeURIComponent(params[name] ?? ''));

function buildQuery(query: NonNullable<ReadParameters['query']>): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  return entries.length === 0
    ? ''
    : `?${new URLSearchParams(entries.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

function toServiceError(status: number, text: string): ServiceError {
  const code = status === 404 ? 'ResourceNotFound' : status === 401 || status === 403 ? 'Forbidden' : undefined;
  if (status >= 500) return new ServiceError('ConnectionFailed', `The service responded with ${status}.`);
  const { message } = parseJson(ApiError, text, 'ConnectionFailed');
  return new ServiceError(code ?? 'InvalidPayload', message);
}
