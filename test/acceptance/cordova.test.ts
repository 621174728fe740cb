import { beforeAll, describe } from '@jest/globals';
import { leaveAcknowledgementToClients } from '../../testing/leave-acknowledgement-to-clients.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { describeConsumables } from './cordova/consumables.ts';
import { describeGooglePlay11 } from './cordova/google-play-11.ts';
import { describeGooglePlay13 } from './cordova/google-play-13.ts';
import { describePendingPayments } from './cordova/pending-payments.ts';
import { describeReceipts } from './cordova/receipts.ts';
import { describeStoreKit2 } from './cordova/storekit-2.ts';
import { describeWebviewOrigins } from './cordova/webview-origins.ts';

const service = startBeforeAll(startLocalService);
beforeAll(async () => {
  await leaveAcknowledgementToClients(service);
});

// All groups share a service. Each group has its own setup. pending-payments.ts runs a sample of `testing/sample.ts`.
describe.each([
  ['google-play-11', describeGooglePlay11],
  ['google-play-13', describeGooglePlay13],
  ['storekit-2', describeStoreKit2],
  ['consumables', describeConsumables],
  ['pending-payments', describePendingPayments],
  ['receipts', describeReceipts],
  ['webview-origins', describeWebviewOrigins],
])('%s', (_file, describeClient) => describeClient(() => service));
