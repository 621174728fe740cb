import { Command } from 'commander';
import { givesEntitlement } from '../lib/apps/catalogue.ts';
import { findCachedCatalogue } from '../lib/apps/catalogue-table.ts';
import { getApp } from '../lib/apps/manage-apps.ts';
import { type Explanation, findAccessReasons } from '../lib/entitlements/find-access-reasons.ts';
import { commandLineKey, toGrantRecord } from '../lib/entitlements/grant.ts';
import { listStoredGrants } from '../lib/entitlements/grant-table.ts';
import { addGrant, changeGrantEnd, endGrant } from '../lib/entitlements/manage-grants.ts';
import { readEntitlements } from '../lib/entitlements/read-entitlements.ts';
import type { EpochMillis } from '../lib/foundation/time.ts';
import { toNeutralId } from '../lib/foundation/vocabulary.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatTime } from './format.ts';
import { getService } from './get-service.ts';
import { parseTime, parseUsername } from './option-parsers.ts';
import type { Output } from './output.ts';
import { type Column, formatTable } from './table.ts';

export const createWhyCommand = (): Command =>
  new Command('why')
    .description('Explain why a customer has access to an entitlement, or not')
    .argument('<app>')
    .argument('<user>', 'applicationUsername of the customer', parseUsername)
    .argument('[entitlement]', 'name of the entitlement; all that the customer ever had by default')
    .option('--product <id>', 'product id instead of an entitlement')
    .addHelpText('after', formatExamples('why my-app alice premium', 'why my-app alice --product store_a:gold'))
    .action(printResult(whyAction));

export function createGrantCommands(): Command {
  const grant = new Command('grant').description('Manage access that customers have without a purchase');
  grant
    .command('create')
    .description('Give a customer an entitlement')
    .argument('<app>')
    .argument('<user>', 'applicationUsername of the customer', parseUsername)
    .argument('<entitlement>')
    .requiredOption('--reason <text>', 'why, for support')
    .option('--until <date>', 'end of the grant; until it is revoked by default', parseTime)
    .option('--idempotency-key <text>', 'the same key again returns the first grant')
    .addHelpText(
      'after',
      formatExamples("grant create my-app alice premium --until 2027-01-31 --reason 'Lost her purchase'"),
    )
    .action(printResult(createAction));
  grant
    .command('list')
    .description('List the grants of a customer, ended ones included')
    .argument('<app>')
    .argument('<user>', 'applicationUsername of the customer', parseUsername)
    .addHelpText('after', formatExamples('grant list my-app alice'))
    .action(printResult(listAction));
  grant
    .command('extend')
    .description('Move the end of a grant')
    .argument('<app>')
    .argument('<user>', 'applicationUsername of the customer', parseUsername)
    .argument('<id>')
    .requiredOption('--until <date>', 'the new end', parseTime)
    .addHelpText('after', formatExamples('grant extend my-app alice grant_5f0c8a1b9d3e --until 2027-03-31'))
    .action(printResult(extendAction));
  grant
    .command('revoke')
    .description('End a grant now')
    .argument('<app>')
    .argument('<user>', 'applicationUsername of the customer', parseUsername)
    .argument('<id>')
    .addHelpText('after', formatExamples('grant revoke my-app alice grant_5f0c8a1b9d3e'))
    .action(printResult(revokeAction));
  return grant;
}

async function whyAction(
  appName: string,
  user: string,
  entitlement: string | undefined,
  { product }: { product?: string },
): Promise<CommandResult> {
  const app = await getApp(getService(), appName);
  const entitlements = await readEntitlements(getService(), app, user);
  const questions =
    product !== undefined
      ? [{ productId: toNeutralId(product) }]
      : (entitlement === undefined ? [...entitlements.keys()] : [entitlement]).map((name) => ({ entitlement: name }));
  const explanations = await Promise.all(
    questions.map(async (question) => ({ question, ...(await findAccessReasons(getService(), app, user, question)) })),
  );
  const data = explanations.map(({ question, isActive, because, next }) => ({
    ...question,
    isActive,
    because: because.map(({ at, ...fact }) => ({ at: at === undefined ? null : formatTime(at), ...fact })),
    next: next ? { ...next, at: formatTime(next.at) } : null,
  }));
  const texts = explanations.map(({ question, ...explanation }) =>
    formatExplanation(user, 'entitlement' in question ? question.entitlement : question.productId, explanation),
  );
  return { data, text: texts.join('\n\n') || `${user} has never had an entitlement.` };
}

const effectSigns = { gives: '+', prevents: '-', none: ' ' } as const;

function formatExplanation(user: string, name: string, { isActive, because, next }: Explanation): string {
  const lines = because.map(
    ({ at, source, what, effect }) =>
      `${effectSigns[effect]} ${(at === undefined ? '' : formatTime(at)).padEnd(24)}  ${what} (${source})`,
  );
  return [
    `${user} ${isActive ? 'has' : 'does not have'} ${name}.`,
    ...lines,
    ...(next ? [`  ${formatTime(next.at).padEnd(24)}  Next: ${next.what}`] : []),
  ].join('\n');
}

type GrantRow = ReturnType<typeof toGrantRecord>;

const grantColumns: readonly Column<GrantRow>[] = [
  { title: 'ID', value: ({ grantId }) => grantId, isWhole: true },
  { title: 'ENTITLEMENT', value: ({ entitlement }) => entitlement },
  { title: 'ACTIVE', value: ({ isActive }) => (isActive ? 'yes' : 'no') },
  { title: 'UNTIL', value: ({ until, revokedAt }) => revokedAt ?? until ?? 'no end' },
  { title: 'BY', value: ({ createdBy }) => createdBy.name },
  { title: 'REASON', value: ({ reason }) => reason },
];

const openContext = async (appName: string, username: string) => {
  const { name } = await getApp(getService(), appName);
  return { appName: name, username, key: commandLineKey };
};

interface CreateOptions {
  readonly reason: string;
  readonly until?: EpochMillis;
  readonly idempotencyKey?: string;
}

async function createAction(
  appName: string,
  user: string,
  entitlement: string,
  options: CreateOptions,
): Promise<CommandResult> {
  const { grant, isNew } = await addGrant(getService(), { entitlement, ...options }, await openContext(appName, user));
  const record = toGrantRecord(grant, getService().now());
  const end = record.until === null ? 'until it is revoked' : `until ${record.until}`;
  const text = isNew ? `${grant.username} has ${entitlement} ${end}.` : 'The grant exists already.';
  const isGiven = givesEntitlement(await findCachedCatalogue(getService(), appName), entitlement);
  const warning = isGiven ? '' : `\nNo product of the catalogue gives ${entitlement}.`;
  return { data: { applicationUsername: grant.username, ...record }, text: `${text}\n${record.grantId}${warning}` };
}

async function listAction(appName: string, user: string, { width }: Output): Promise<CommandResult> {
  const { name } = await getApp(getService(), appName);
  const grants = await listStoredGrants(getService(), name, user);
  const rows = grants.map((grant) => toGrantRecord(grant, getService().now()));
  return { data: rows, text: formatTable(grantColumns, rows, width) || `${user} has no grants.` };
}

async function extendAction(
  appName: string,
  user: string,
  grantId: string,
  { until }: { until: EpochMillis },
): Promise<CommandResult> {
  const record = toGrantRecord(
    await changeGrantEnd(getService(), grantId, until, await openContext(appName, user)),
    getService().now(),
  );
  return { data: { applicationUsername: user, ...record }, text: `The grant ends at ${record.until}.` };
}

async function revokeAction(appName: string, user: string, grantId: string): Promise<CommandResult> {
  const record = toGrantRecord(
    await endGrant(getService(), grantId, await openContext(appName, user)),
    getService().now(),
  );
  return { data: { applicationUsername: user, ...record }, text: `${grantId} has ended.` };
}
