import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from './project-folder.ts';

/** A call of an operation on a running service. */
export interface ApiExample {
  /** Path and query. */
  readonly path: string;
  readonly key: 'public' | 'secret';
  /** JSON body of the request. */
  readonly body?: object;
  readonly response: unknown;
}

/** The calls that `npm run examples` has recorded, by operation id, and the bodies of webhooks. */
export interface ApiExamples {
  readonly operations: Readonly<Record<string, ApiExample>>;
  readonly webhooks: Readonly<Record<string, unknown>>;
}

/** Path from the folder of the project. */
export const apiExamplesFile = 'infra/api-examples.json';

export function readApiExamples(): ApiExamples {
  const file = join(projectFolder, apiExamplesFile);
  // The recording itself needs the API document.
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { operations: {}, webhooks: {} };
}
