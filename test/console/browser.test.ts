import { afterEach, describe } from '@jest/globals';
import { createConnectedApp } from '../../testing/create-connected-app.ts';
import { startConsole, withApp } from '../../testing/open-console.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { describeDocumentation } from './browser/documentation.ts';
import { describeEmulator } from './browser/emulator.ts';
import { describeEvents } from './browser/events.ts';
import { describeFigures } from './browser/figures.ts';
import { describeLongNames } from './browser/long-names.ts';
import { describeOverview } from './browser/overview.ts';
import { describePeoplePages } from './browser/people-pages.ts';
import { describeReference } from './browser/reference.ts';
import { describeServedFiles } from './browser/serve-console.ts';
import { describeSignIn } from './browser/sign-in.ts';
import { describeStores } from './browser/stores.ts';
import { describeWebhooks } from './browser/webhooks.ts';

// Each page is shown in a sample of its views: see `testing/sample.ts`.
const running = startBeforeAll(startConsole);
// Open tabs go on polling.
afterEach(async () => await running?.closeTabs());

describe('serve-console', () => describeServedFiles(() => running.service));

describe('documentation', () => describeDocumentation(() => running));

// The notifications of the stores go to the demo app. The emulator is the first one: it starts without a purchase.
describe.each([
  ['emulator', describeEmulator],
  ['people-pages', describePeoplePages],
  ['stores', describeStores],
])('%s', (_name, describePages) => describePages(async () => running));

// Each has its own app, so that no other page adds to its lists and figures.
describe.each([
  ['overview', describeOverview],
  ['figures', describeFigures],
  ['events', describeEvents],
  ['reference', describeReference],
  ['sign-in', describeSignIn],
  ['webhooks', describeWebhooks],
])('%s', (name, describePages) =>
  describePages(async () => withApp(running, await createConnectedApp(running.service, name))),
);

// The last one: the notifications of the App Store go to its app.
describe('long-names', () =>
  describeLongNames(async () => withApp(running, await createConnectedApp(running.service, 'a'.repeat(64)))));
