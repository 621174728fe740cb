import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { projectFolder } from '../infra/project-folder.ts';

/** Runs Node as a separate process: the memory of the bundler and of the CDK is free after a build. */
export async function runBuild(...nodeArguments: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [...nodeArguments], {
    cwd: projectFolder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = (): void => void child.kill();
  process.once('exit', kill);
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  process.off('exit', kill);
  if (code !== 0) throw new Error(`The build failed.\n${errors}`);
}
