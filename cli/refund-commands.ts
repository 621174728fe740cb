import { Argument, Command, Option } from 'commander';
import { getApp } from '../lib/apps/manage-apps.ts';
import { omitUndefined } from '../lib/foundation/omit-undefined.ts';
import { readRefundRequest, readRefundRequests, submitAnswer } from '../lib/refunds/answer-refund-request.ts';
import type { RefundRequestRecord } from '../lib/refunds/contract.ts';
import { listRefundRequestPage } from '../lib/refunds/refund-request-table.ts';
import { DeliveryStatus, type RefundAnswer, RefundPreference } from '../lib/stores/refund-request.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { toSeconds } from './format-records.ts';
import { getService } from './get-service.ts';
import { createNumberParser } from './option-parsers.ts';
import type { Output } from './output.ts';
import { recordCommand } from './record-command.ts';
import { type Column, formatTable } from './table.ts';

/** Maximum number of requests in a list: the largest page of the API. */
const maxRequests = 100;

const exampleId = 'refund_5f0c8a1b9d3e4f6071829304_0001';

export function createRefundCommands(): Command {
  const refunds = new Command('refunds').description("Answer the stores' requests for statements about refunds");
  refunds
    .command('list')
    .description('List the requests, newest first')
    .argument('<app>')
    .addOption(
      new Option('--state <state>', 'only requests in a state').choices(['open', 'answered', 'expired'] as const),
    )
    .addHelpText('after', formatExamples('refunds list my-app --state open'))
    .action(printResult(listAction));
  refunds
    .command('show')
    .description('Show a request with its facts and the prepared statement')
    .argument('<app>')
    .argument('<id>')
    .addHelpText('after', formatExamples(`refunds show my-app ${exampleId}`))
    .action(printResult(showAction));
  refunds
    .command('answer')
    .description('Send the statement to the store, which accepts only the first one')
    .argument('<app>')
    .argument('<id>')
    .addArgument(new Argument('<preference>', 'what the app prefers').choices(RefundPreference.options))
    .option('--consented', 'the customer consented to the statement, which the App Store requires')
    .option('--prorated', 'limit an approved refund to the unused part (App Store)')
    .addOption(new Option('--delivery-status <status>', 'delivery (App Store)').choices(DeliveryStatus.options))
    .option(
      '--used <percent>',
      'used part of a delivered product (App Store: not of a subscription)',
      createNumberParser('percent', { min: 0, max: 100 }),
    )
    .addHelpText('after', formatExamples(`refunds answer my-app ${exampleId} decline --consented --used 80`))
    .action(printResult(answerAction));
  return refunds;
}

const columns: readonly Column<RefundRequestRecord>[] = [
  { title: 'ID', value: ({ id }) => id, isWhole: true },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'UNTIL', value: ({ deadline }) => toSeconds(deadline) },
  { title: 'PURCHASE', value: ({ purchaseId }) => purchaseId },
  { title: 'CUSTOMER', value: ({ applicationUsername }) => applicationUsername ?? '' },
  { title: 'REASON', value: ({ reason }) => reason },
  { title: 'OUTCOME', value: ({ outcome }) => outcome ?? '' },
];

async function listAction(
  name: string,
  { state }: { state?: RefundRequestRecord['state'] },
  { width }: Output,
): Promise<CommandResult> {
  const app = await getApp(getService(), name);
  const query = { state, limit: maxRequests, now: getService().now() };
  const { rows } = await listRefundRequestPage(getService(), app.name, query);
  const requests = await readRefundRequests(getService(), app.name, rows);
  const text = requests.length === 0 ? 'No refund requests.' : formatTable(columns, requests, width);
  return { data: requests, text };
}

async function showAction(name: string, id: string): Promise<CommandResult> {
  const app = await getApp(getService(), name);
  const request = await readRefundRequest(getService(), app.name, id);
  return { data: request, text: describeRequest(request) };
}

interface AnswerOptions {
  readonly consented?: true;
  readonly prorated?: true;
  readonly deliveryStatus?: RefundAnswer['deliveryStatus'];
  readonly used?: number;
}

async function answerAction(
  name: string,
  id: string,
  preference: RefundAnswer['preference'],
  { consented: customerConsented, prorated: isProrated, deliveryStatus, used }: AnswerOptions,
): Promise<CommandResult> {
  const app = await getApp(getService(), name);
  const consumptionPercentage = used === undefined ? undefined : used * 1_000;
  const body = {
    preference,
    ...omitUndefined({ customerConsented, isProrated, deliveryStatus, consumptionPercentage }),
  };
  const request = await recordCommand(
    app,
    { type: 'refund.answered', params: { id }, body },
    async ({ key, recorder }) => {
      const author = { type: 'key', id: key.id, name: key.name } as const;
      return await submitAnswer(getService(), id, body, { appName: app.name, author, recorder });
    },
  );
  return { data: request, text: describeRequest(request) };
}

function describeRequest({ id, state, deadline, facts, preparedAnswer, answer, outcome }: RefundRequestRecord): string {
  const { purchaseCount, paidUSD, refundedUSD, consentedAt, isDelivered } = facts;
  return [
    `${id}: ${state}${outcome ? `, ${outcome}` : ''}, statements until ${toSeconds(deadline)}.`,
    `The customer has ${formatCount(purchaseCount, 'purchase')}, paid ${paidUSD} USD, of which ${refundedUSD} USD were refunded.`,
    `Delivered: ${isDelivered ? 'yes' : 'no'}. Stored consent: ${consentedAt ? toSeconds(consentedAt) : 'none'}.`,
    ...(preparedAnswer ? [`Prepared statement: ${preparedAnswer.preference}. ${preparedAnswer.why.join(' ')}`] : []),
    ...(answer
      ? [
          `Statement: ${answer.preference}, ${answer.sentAt ? `sent ${toSeconds(answer.sentAt)}` : 'not sent yet'}.`,
          ...(answer.failureReason ? [answer.failureReason] : []),
        ]
      : []),
  ].join('\n');
}
