import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { projectFolder } from '../infra/project-folder.ts';
import { computeDigest } from '../infra/source-digest.ts';
import { linkBuild } from '../local/build-cache.ts';
import type { StackChange, StackFindings } from './stack-findings.ts';
import { type StackId, stackOptions } from './stack-options.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read resources of every shape.
export type Json = Readonly<Record<string, any>>;

export interface Template {
  readonly Parameters?: Json;
  readonly Resources: Readonly<Record<string, Json & { readonly Type: string }>>;
  readonly Outputs?: Readonly<Record<string, Json & { readonly Value: unknown }>>;
}

/** A synthesized stack. */
export interface SynthesizedStack {
  readonly stackName: string;
  readonly isProtected: boolean;
  readonly root: Template;
  /** Templates of the nested stacks by logical id. */
  readonly nested: Readonly<Record<string, Template>>;
  /** All resources in one template: see local/nested-stacks.ts. */
  readonly joined: Template;
}

interface Findings {
  readonly none: StackFindings;
  readonly every: StackFindings;
  readonly changed: Readonly<Record<StackChange, StackFindings>>;
}

/** Files that determine the output in addition to the sources of a build. */
const programFiles = [
  'testing/create-stack.ts',
  'testing/empty-bundles.ts',
  'testing/stack-findings.ts',
  'testing/stack-options.ts',
  'testing/synthesize-stacks.ts',
];

let files: Promise<ReadonlyMap<string, string>> | undefined;

/**
 * Returns a stack with the options of `stackOptions`. All stacks are synthesized once for the current sources, outside
 * of jest.
 */
export const readStack = async (id: StackId): Promise<SynthesizedStack> => await readJson(id);

/** Returns the findings of cdk-nag. */
export const readFindings = async (): Promise<Findings> => await readJson('findings');

async function readJson<T>(name: string): Promise<T> {
  files ??= readStackFiles();
  return JSON.parse((await files).get(name) ?? '') as T;
}

async function readStackFiles(): Promise<ReadonlyMap<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-stacks-'));
  const digest = computeDigest(projectFolder, programFiles).slice(0, 12);
  try {
    await linkBuild(`stacks-${digest}`, folder, synthesizeStacks);
    const names = [...Object.keys(stackOptions), 'findings'];
    return new Map(names.map((name) => [name, readFileSync(join(folder, `${name}.json`), 'utf8')]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs `synthesize-stacks.ts` as a separate process: jest takes several times longer to load the CDK. */
async function synthesizeStacks(folder: string): Promise<void> {
  const program = fileURLToPath(new URL('./synthesize-stacks.ts', import.meta.url));
  const child = spawn(process.execPath, ['--max-semi-space-size=64', '--import', 'tsx', program, folder], {
    cwd: projectFolder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  if (code !== 0) throw new Error(`The synthesis failed.\n${errors}`);
}

/** Returns the resources of a type by logical id. */
export const findResources = ({ Resources }: Template, type: string): Readonly<Record<string, Json>> =>
  Object.fromEntries(Object.entries(Resources).filter(([, { Type }]) => Type === type));

/** Lists the resources of a type. */
export const listResources = (template: Template, type: string): readonly Json[] =>
  Object.values(findResources(template, type));

/** Lists the properties of the resources of a type. */
export const listProperties = (template: Template, type: string): readonly Json[] =>
  listResources(template, type).map(({ Properties = {} }) => Properties);
