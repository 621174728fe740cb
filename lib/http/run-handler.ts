import middy from '@middy/core';
import jsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type { Contract } from '../api/contract.ts';
import { clientOptions } from '../foundation/container.ts';
import { ServiceError } from '../foundation/errors.ts';
import { secondMs } from '../foundation/time.ts';

export type ApiHandler = (lambdaEvent: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** Clients send JSON with four content types or none. The package's types lack the option. */
const ignoreContentType: object = { disableContentTypeCheck: true };

/** Ends a call before Lambda and API Gateway do, which leaves the time to record its event and to respond. */
const timeLimit = {
  timeoutEarlyInMillis: secondMs,
  timeoutEarlyResponse: (): never => {
    const cause = `Pending: ${clientOptions().requestHandler?.listPending?.() || 'none'}`;
    throw new ServiceError('InternalError', 'The service timed out.', { status: 504, cause });
  },
};

interface CallSteps {
  /** Runs before the body is parsed. */
  readonly before?: () => Promise<void>;
  readonly respond: () => Promise<APIGatewayProxyResult>;
  readonly respondWithError: (error: unknown) => Promise<APIGatewayProxyResult>;
}

/** Handles one call: parses the JSON body in place, and responds to the error of any step. */
export async function runHandler(
  { body }: Contract,
  [lambdaEvent, context]: Parameters<ApiHandler>,
  { before = async () => {}, respond, respondWithError }: CallSteps,
): Promise<APIGatewayProxyResult> {
  const run = middy<APIGatewayProxyEvent, APIGatewayProxyResult>(timeLimit)
    .onError(async ({ error }) => await respondWithError(error))
    .before(before)
    .use(body ? [jsonBodyParser(ignoreContentType)] : [])
    .handler(respond);
  return await run(lambdaEvent, context);
}
