import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { projectFolder } from '../../infra/project-folder.ts';

const Package = v.pipe(v.string(), v.parseJson(), v.object({ scripts: v.object({ start: v.string() }) }));

/** Returns the arguments of Node in `npm start`, which runs in any folder with them. */
export async function readStartArguments(): Promise<string[]> {
  const { scripts } = v.parse(Package, await readFile(join(projectFolder, 'package.json'), 'utf8'));
  const [, ...args] = scripts.start.split(' ');
  return args.map((arg) => (arg.startsWith('-') ? arg : join(projectFolder, arg)));
}
