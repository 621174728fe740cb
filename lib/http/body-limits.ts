import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ServiceError } from '../foundation/errors.ts';

const maxBodyBytes = 2 * 1024 * 1024;
const maxBodyDepth = 64;

/** Throws `InvalidPayload` (413) for a body of more than 2 MB, before it is parsed. */
export function checkBodySize({ body, isBase64Encoded }: APIGatewayProxyEvent): void {
  const bytes = isBase64Encoded ? ((body?.length ?? 0) * 3) / 4 : Buffer.byteLength(body ?? '');
  if (bytes > maxBodyBytes) throw new ServiceError('InvalidPayload', 'The body is larger than 2 MB.', { status: 413 });
}

/** Throws `InvalidPayload` if the body is nested more than 64 levels deep, which would overflow recursive functions. */
export function checkBodyDepth(body: unknown): void {
  let level: unknown[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxBodyDepth)
      throw new ServiceError('InvalidPayload', `The body is nested more than ${maxBodyDepth} levels deep.`);
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
}
