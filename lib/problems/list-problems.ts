import type { App } from '../apps/app.ts';
import { measureSlowReads } from '../foundation/measure-slow-reads.ts';
import type { Service } from '../foundation/service.ts';
import { addCure } from './add-cure.ts';
import { describeProblems, type Problem } from './describe-problems.ts';
import { createEnglishFormat } from './english-format.ts';
import { readBacklogs } from './read-backlogs.ts';
import { readStoreStates } from './read-store-states.ts';

const slowTable: Problem = {
  id: 'slow-table',
  tone: 'bad',
  text: 'Reads of the table are slow, so requests are late or fail. Check DynamoDB on the AWS Health Dashboard; `doctor` measures a read.',
};

/** Reads the state of an app, and describes what is wrong now with its cure, the worst first. */
export async function listProblems(service: Service, app: App): Promise<readonly Problem[]> {
  const [due, rows, slowReadMs] = await Promise.all([
    readBacklogs(service, app),
    readStoreStates(service, app.name),
    measureSlowReads(service),
  ]);
  const stores = rows.map(({ platform }) => ({ platform, isConnected: true }));
  const { webhookSettings: webhooks } = app;
  const state = { app: { stores, ...(webhooks && { webhooks }) }, due, stores: { rows } };
  const described = describeProblems(state, createEnglishFormat(service.now())).map(addCure);
  const problems = slowReadMs === undefined ? described : [slowTable, ...described];
  // Two URLs that differ only in their query have the same id.
  return [...new Map(problems.toReversed().map((problem) => [problem.id, problem])).values()].reverse();
}
