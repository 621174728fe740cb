import type { Contract, ContractResponse } from '../api/contract.ts';
import { logError } from '../foundation/log.ts';
import { applyVocabulary, isBrandPath } from '../foundation/vocabulary.ts';
import { matchRoute, type ParsedRequest, parseRequest } from './request.ts';
import {
  type ApiHandler,
  type Reply,
  runHandler,
  toBodyResponse,
  toErrorResponse,
  toHttpResult,
  toReply,
  toServiceError,
} from './response.ts';

type RequestHandler<C extends Contract> = (
  request: ParsedRequest<C>,
) => Promise<ContractResponse<C> | Reply<ContractResponse<C>>>;

/**
 * Creates the Lambda handler of a contract that requires no key. It belongs to no app, so it is without limit and
 * records no event, and loads no client of the table. Curried like `createHandler`.
 */
export const createOpenHandler =
  <const C extends Contract & { readonly keyLevel: 'none' }>(contract: C) =>
  (handle: RequestHandler<C>): ApiHandler =>
  async (...call) => {
    const [lambdaEvent] = call;
    const route = matchRoute(contract, lambdaEvent);
    return await runHandler(contract, call, {
      async respond() {
        const result = await handle(parseRequest(contract, lambdaEvent));
        const { body, ...reply } = toReply<object>(result as object);
        const response = toBodyResponse({
          ...reply,
          body: applyVocabulary(body, isBrandPath(route) ? 'brand' : 'neutral'),
        });
        return toHttpResult(contract, response, { ...(reply.headers && { headers: reply.headers }) });
      },
      async respondWithError(cause) {
        const error = toServiceError(cause);
        if (error.retryable)
          logError({ endpoint: contract.id, requestId: lambdaEvent.requestContext.requestId }, error);
        return toHttpResult(contract, toErrorResponse(contract, error, route), { error });
      },
    });
  };
