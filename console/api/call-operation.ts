import { getSession, rejectSession } from '../session.ts';
import { apiError } from './api-error.ts';
import { buildHeaders, buildUrl, toUnreachable } from './client.ts';

/** Response to a request that the user wrote, even if it is an error. */
export interface CallOutcome {
  readonly status: number;
  /** Parsed JSON, or the text. */
  readonly body: unknown;
  readonly durationMs: number;
}

interface OperationRequest {
  readonly method: string;
  /** With `{name}` for a parameter. */
  readonly path: string;
  readonly 'x-writing-parameter'?: string;
}

/** Calls an operation of the API document once, with the key of the session. Throws if the service is unreachable. */
export async function callOperation(
  operation: OperationRequest,
  { values, body }: { readonly values: Readonly<Record<string, string>>; readonly body?: string },
): Promise<CallOutcome> {
  const { method, path } = operation;
  const session = getSession();
  const isChange = method !== 'GET' || Boolean(values[operation['x-writing-parameter'] ?? '']);
  if (!session || (isChange && session.level === 'viewer'))
    throw apiError({ status: 403, code: 'Forbidden', message: 'A viewer key can only read.' });
  const pathNames = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const query = Object.fromEntries(Object.entries(values).filter(([name]) => !pathNames.includes(name)));
  const url = buildUrl(path.replace(/\{(\w+)\}/g, ':$1'), { params: values, query });
  const startedAt = performance.now();
  const init = {
    method,
    headers: buildHeaders(session, body !== undefined),
    ...(body !== undefined && { body }),
    credentials: 'omit',
    cache: 'no-store',
  } satisfies RequestInit;
  try {
    const response = await fetch(url, init);
    if (response.status === 401 && session === getSession()) rejectSession();
    const text = await response.text();
    return { status: response.status, body: parseOrKeep(text), durationMs: performance.now() - startedAt };
  } catch (error) {
    throw toUnreachable(error);
  }
}

function parseOrKeep(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
