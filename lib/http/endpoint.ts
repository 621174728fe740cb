import type { Contract, ContractResponse } from '../api/contract.ts';
import type { App, VerifiedKey } from '../apps/app.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import { clientOptions } from '../foundation/container.ts';
import { getService } from '../foundation/get-service.ts';
import { appKey } from '../foundation/keys.ts';
import type { Service } from '../foundation/service.ts';
import { applyVocabulary, isBrandPath, type Vocabulary } from '../foundation/vocabulary.ts';
import { registerWarmUp } from '../foundation/warm-up.ts';
import { type ApiCall, createApiCall, respondWithBody, respondWithError } from './api-call.ts';
import { type Authentication, authenticate, extractCredentials, requireLevel } from './authenticate.ts';
import { countRequest, limitRejection, requireAllowance } from './limit-request.ts';
import { checkBodySize, matchRoute, type ParsedRequest, parseRequest } from './request.ts';
import { type ApiHandler, type Reply, runHandler, toReply } from './response.ts';

/** A request with verified credentials and parsed parameters and body. */
export interface ApiRequest<C extends Contract> extends ParsedRequest<C> {
  readonly app: App;
  readonly key: VerifiedKey;
  /** Names of the response: brand names on the paths of released clients. */
  readonly vocabulary: Vocabulary;
  /** Recorder of the event of this request. */
  readonly recorder: EventRecorder;
}

type RequestHandler<C extends Contract> = (
  request: ApiRequest<C>,
  service: Service,
) => Promise<ContractResponse<C> | Reply<ContractResponse<C>>>;

/**
 * Creates the Lambda handler of a contract. It checks credentials, parameters and body, calls `handle`, writes the
 * response in the client's vocabulary or the error in the contract's error format, and records the event. Curried,
 * because a call with both arguments widens literal types, and wrong responses compile.
 */
export const createHandler =
  <const C extends Contract & { readonly keyLevel: 'public' | 'secret' }>(contract: C) =>
  (handle: RequestHandler<C>): ApiHandler =>
  async (lambdaEvent, context) => {
    const service = getService();
    const call = createApiCall(service, contract, lambdaEvent);
    return await runHandler(contract, [lambdaEvent, context], {
      async before() {
        await authenticateCall(service, call);
        checkBodySize(lambdaEvent);
      },
      async respond() {
        const reply = toReply<object>((await handle(toApiRequest(contract, call), service)) as object);
        const body = applyVocabulary(reply.body, chooseVocabulary(call));
        const result = await respondWithBody(service, call, { ...reply, body });
        await countRequest(service, call, { body });
        return result;
      },
      async respondWithError(error) {
        await countRequest(service, call, { error });
        return await respondWithError(service, call, error);
      },
    });
  };

// Compiles the calls of the table, and connects to it. No app has an empty name.
registerWarmUp(
  async () => await (await import('../foundation/warm-up-table-calls.ts')).warmUpTableCalls(clientOptions()),
  async () => await getService().table.get(appKey('')),
);

async function authenticateCall(service: Service, call: ApiCall): Promise<void> {
  const { contract, lambdaEvent } = call;
  let authentication: Authentication | undefined;
  try {
    const credentials = extractCredentials(lambdaEvent);
    authentication = await authenticate(service, credentials, contract);
    requireLevel(authentication.key, contract, lambdaEvent.queryStringParameters);
  } catch (error) {
    const rejection = await limitRejection(service, error, lambdaEvent);
    // A blocked request must not cause a write, so its event is not recorded.
    if (rejection === error && authentication) identifyCall(call, authentication);
    throw rejection;
  }
  // The event of a request above the limit is not recorded, because it must not cause a write.
  await requireAllowance(service, authentication, lambdaEvent);
  identifyCall(call, authentication);
}

/** Sets the app and the key under which the event of the call is recorded. */
function identifyCall(call: ApiCall, { app, key }: Authentication): void {
  call.app = app;
  call.key = key;
  call.recorder.setKey(key);
}

function toApiRequest<C extends Contract>(contract: C, call: ApiCall): ApiRequest<C> {
  const { lambdaEvent, app, key, recorder } = call;
  const request = parseRequest(contract, lambdaEvent, ({ applicationUsername }) => {
    if (applicationUsername !== undefined) recorder.setUser(applicationUsername);
  });
  return { ...request, app: app as App, key: key as VerifiedKey, vocabulary: chooseVocabulary(call), recorder };
}

/** Brand tokens on brand paths, and for requests with the secret key if the app's vocabulary is `brand`. */
function chooseVocabulary(call: ApiCall): Vocabulary {
  if (isBrandPath(matchRoute(call.contract, call.lambdaEvent))) return 'brand';
  return call.contract.keyLevel === 'secret' && call.app?.vocabulary === 'brand' ? 'brand' : 'neutral';
}
