import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import Module from 'node:module';
import { dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

interface Compiler {
  _compile(this: NodeJS.Module, source: string, file: string): void;
}

type ModuleFunction = (...parameters: readonly unknown[]) => void;

/**
 * Makes `require` of this thread use the code that V8 compiled for earlier instances, from the files of a folder.
 * Returns a function that adds to the folder what this thread has compiled: call it after an invocation, which compiles
 * most functions. Node 22 has `module.enableCompileCache` for this.
 */
export function reuseCompiledCode(folder: string): () => void {
  const added = new Map<string, Script>();
  const compile = (source: string, filename: string): Script => {
    const digest = createHash('sha256').update(source).digest('hex');
    // The tag differs if V8 would reject the code: by its version, its flags and the processor.
    const file = join(folder, `${digest}-${cachedDataVersionTag()}`);
    const cachedData = readIfPresent(file);
    const script = new Script(Module.wrap(source), { filename, ...(cachedData && { cachedData }) });
    if (script.cachedDataRejected !== false) added.set(file, script);
    return script;
  };
  const { prototype } = Module as unknown as { readonly prototype: Compiler };
  prototype._compile = function (source, file) {
    const run = compile(source, file).runInThisContext() as ModuleFunction;
    run.call(this.exports, this.exports, this.require.bind(this), this, file, dirname(file));
  };
  return () => {
    for (const [file, script] of added) tryWrite(file, script.createCachedData());
    added.clear();
  };
}

function readIfPresent(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Writes the file in one step, because V8 does not check all of it. An instance does not depend on the file. */
function tryWrite(file: string, content: Buffer): void {
  const draft = `${file}-${randomUUID()}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(draft, content);
    renameSync(draft, file);
  } catch {}
}
