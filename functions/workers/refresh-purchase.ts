import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { events } from '../../composition/events.ts';
import { recordPurchase } from '../../composition/record-purchase.ts';
import { answerService } from '../../composition/refunds.ts';
import { storeContextDeps } from '../../composition/store-context.ts';
import { table } from '../../composition/table.ts';
import { createUserAliasRepository } from '../../lib/db/user-alias-repository.ts';
import { handleBatch } from '../../lib/queue/handle-batch.ts';
import { RefreshMessage } from '../../lib/refresh/refresh-message.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { runDueStep } from '../../lib/refunds/answer-refund-request.ts';
import { once } from '../../lib/shared/once.ts';
import { loadStore } from '../../lib/stores/index.ts';

const deps = once(() => ({
  ...storeContextDeps(),
  events: events(),
  loadStore,
  recordPurchase: recordPurchase(),
  userAliases: createUserAliasRepository(table()),
}));

export const handler = async (lambdaEvent: SQSEvent): Promise<SQSBatchResponse> =>
  await handleBatch(lambdaEvent, {
    worker: 'refresh-purchase',
    schema: RefreshMessage,
    handle: async (message) => {
      if ('refundRequestId' in message) await runDueStep(answerService(), message.appName, message.refundRequestId);
      else await refreshPurchase(message, deps());
    },
  });
