import { Command } from 'commander';
import type { App } from '../lib/apps/app.ts';
import { listApps } from '../lib/apps/app-list-table.ts';
import { findCatalogue } from '../lib/apps/catalogue-table.ts';
import { listConnectedPlatforms } from '../lib/apps/store-settings-table.ts';
import { addStreamFailureCount } from '../lib/foundation/count-messages.ts';
import { attemptItems } from '../lib/foundation/failed-items.ts';
import { getStreamFailuresUrl } from '../lib/foundation/get-service.ts';
import type { Service } from '../lib/foundation/service.ts';
import { listProblems } from '../lib/problems/list-problems.ts';
import { toDisplayUrl } from '../lib/webhooks/display-url.ts';
import { type CommandResult, exitCodes, printResult } from './command-result.ts';
import type { ConnectionOptions } from './connect.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { formatFailedItems } from './format-failed-items.ts';
import { getService } from './get-service.ts';
import { programName } from './program-name.ts';

/** More apps would not fit on a screen. */
const maxApps = 5;

/** `status`, which runs without a command, too. */
export const createStatusCommand = (): Command =>
  new Command('status')
    .description('Show the state of each app and the next step: the command without a name')
    .addHelpText('after', formatExamples('status', '--json status'))
    .action(async (options, command: Command) => {
      const program = formatProgram(command.optsWithGlobals());
      await printResult(
        async () => await showStatus(addStreamFailureCount(getService(), getStreamFailuresUrl()), program),
      )(options, command);
    });

/** Returns the program with the options that select the service, so that a next step runs as it is printed. */
function formatProgram({ local, folder, stack }: ConnectionOptions): string {
  if (local) return folder === '.local' ? `${programName} --local` : `${programName} --local --folder ${folder}`;
  return stack === undefined ? programName : `${programName} --stack ${stack}`;
}

async function showStatus(service: Service, program: string): Promise<CommandResult> {
  const list = await listApps(service);
  const apps = list.apps.filter(({ deletedAt }) => deletedAt === undefined);
  const { attempt, failed } = attemptItems({});
  const read = async (app: App) => await attempt(app.name, async () => await readState(service, app, program));
  const states = (await Promise.all(apps.slice(0, maxApps).map(read))).filter((state) => state !== undefined);
  failed.push(...list.failed);
  if (apps.length + failed.length === 0) {
    const next = `${program} app create my-app`;
    return { data: { apps: [], next }, text: `There is no app.\n\nNext: ${next}` };
  }
  const texts = states.map(formatState);
  if (apps.length > maxApps) texts.push(`${formatCount(apps.length - maxApps, 'more app')}: ${program} app list`);
  if (failed.length === 0) return { data: { apps: states }, text: texts.join('\n\n') };
  texts.push(formatFailedItems(failed).join('\n'), `Next: ${program} doctor`);
  return { data: { apps: states, failed }, text: texts.join('\n\n'), exitCode: exitCodes.failed };
}

async function readState(service: Service, app: App, program: string) {
  const { name, webhookSettings } = app;
  const [stores, catalogue = {}, problems] = await Promise.all([
    listConnectedPlatforms(service, name),
    findCatalogue(service, name),
    listProblems(service, app),
  ]);
  const products = Object.values(catalogue);
  const entitlements = [...new Set(products.flatMap((product) => product.entitlements ?? []))];
  const webhooks = (webhookSettings?.urls ?? []).map(toDisplayUrl);
  const state = { app: name, stores, products: products.length, entitlements, webhooks };
  const next = `${program} ${chooseNextStep(state, problems.length > 0)}`;
  return { ...state, problems: problems.map(({ text }) => text), next };
}

interface Settings {
  readonly app: string;
  readonly stores: readonly string[];
  readonly entitlements: readonly string[];
  readonly webhooks: readonly string[];
}

function chooseNextStep({ app, stores, entitlements, webhooks }: Settings, hasProblems: boolean): string {
  if (stores.length === 0) return `app set-store ${app} apple apple.json (docs/stores/README.md)`;
  if (webhooks.length === 0) return `app set-webhook ${app} --url https://… (docs/guides/verify-webhooks.md)`;
  if (hasProblems) return `doctor ${app}`;
  if (entitlements.length === 0) return `app set-catalogue ${app} products.json (docs/guides/entitlements.md)`;
  return `prove ${app} ${stores[0]} --report proof.md (docs/guides/prove-the-set-up.md)`;
}

const formatState = ({
  app,
  stores,
  products,
  entitlements,
  webhooks,
  problems,
  next,
}: Awaited<ReturnType<typeof readState>>) =>
  [
    `app        ${app}`,
    `stores     ${stores.join(', ') || 'none'}`,
    `catalogue  ${formatCount(products, 'product')}; entitlements: ${entitlements.join(', ') || 'none'}`,
    `webhooks   ${webhooks.join(', ') || 'off'}`,
    `problems   ${problems.join(' ') || 'none'}`,
    '',
    `Next: ${next}`,
  ].join('\n');
