import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import type { Json } from './call-local.ts';

/** A process that uses a package for servers as an app's server does. */
export interface ServerClient {
  /** Calls the package. An error of the package has `code`. */
  call(name: string, ...args: readonly unknown[]): Promise<Json>;
  stop(): void;
}

/** Reads calls from its input, one a line, and prints the results. */
const javaScript = `
const { createInterface } = require('node:readline');
let client;
const calls = {
  create: (options) => { client = new Claimcheck(options); },
  validate: (body) => client.validate(body),
  entitlements: (...args) => client.entitlements(...args),
  hasEntitlement: (...args) => client.hasEntitlement(...args),
  invalidate: (...args) => client.invalidate(...args),
  getCredits: (...args) => client.credits.get(...args),
  spend: (...args) => client.credits.spend(...args),
  hold: (...args) => client.credits.hold(...args),
  capture: (...args) => client.credits.capture(...args),
  release: (...args) => client.credits.release(...args),
  verifyWebhook: (...args) => verifyWebhook(...args),
  verifyToken: async (...args) => {
    const { hasEntitlement, ...token } = await verifyToken(...args);
    return { ...token, hasPremium: hasEntitlement('premium'), hasOther: hasEntitlement('constructor') };
  },
};
createInterface(process.stdin).on('line', async (line) => {
  const [name, ...args] = JSON.parse(line);
  let output;
  try {
    output = { result: await calls[name](...args) };
  } catch (error) {
    const { message, code, status, balance, isTemporary, fix } = error;
    output = { isClaimcheckError: error instanceof ClaimcheckError, message, code, status, balance, isTemporary, fix };
  }
  console.log(JSON.stringify(output));
});`;
const names = 'Claimcheck, ClaimcheckError, verifyToken, verifyWebhook';

const python = `
import json, sys
from claimcheck_server import Claimcheck, ClaimcheckError, verify_token, verify_webhook
client = None
def snake(options):
    return {"".join("_" + c.lower() if c.isupper() else c for c in name): value for name, value in options.items()}
def create(options):
    global client
    client = Claimcheck(**snake(options))
def token(text, options):
    verified = verify_token(text, **snake(options))
    return {"username": verified.username, "entitlements": verified.entitlements, "nonce": verified.nonce,
            "hasPremium": verified.has_entitlement("premium"), "hasOther": verified.has_entitlement("constructor")}
calls = {
    "create": create, "validate": lambda body: client.validate(body),
    "entitlements": lambda *a: client.entitlements(*a), "hasEntitlement": lambda *a: client.has_entitlement(*a),
    "invalidate": lambda *a: client.invalidate(*a), "getCredits": lambda *a: client.credits.get(*a),
    "spend": lambda user, request: client.credits.spend(user, **snake(request)),
    "hold": lambda user, request: client.credits.hold(user, **snake(request)),
    "capture": lambda *a: client.credits.capture(*a), "release": lambda *a: client.credits.release(*a),
    "verifyWebhook": lambda body, headers, secret: verify_webhook(body, headers, secret), "verifyToken": token,
}
for line in sys.stdin:
    name, *args = json.loads(line)
    try:
        output = {"result": calls[name](*args)}
    except Exception as error:
        known = isinstance(error, ClaimcheckError)
        fields = {"code": error.code, "status": error.status, "balance": error.balance,
                  "isTemporary": error.is_temporary, "fix": error.fix} if known else {}
        output = {"isClaimcheckError": known, "message": str(error), **fields}
    print(json.dumps(output), flush=True)
`;

/** Why Python runs no test here. Undefined if it does. */
export const findPythonProblem = (): string | undefined =>
  ['sys', 'cryptography']
    .map((name) => (spawnSync('python3', ['-c', `import ${name}`]).status === 0 ? undefined : name))
    .filter((name) => name !== undefined)
    .map((name) => (name === 'sys' ? 'python3 is not installed' : `the Python package ${name} is not installed`))[0];

/** Packs `@claimcheck/server` and installs the tarball in a folder, without the registry. */
export function installServerPackage(folder: string): void {
  const options = { encoding: 'utf8', shell: false } as const;
  const pack = ['pack', '--json', '--pack-destination', folder];
  const [packed] = JSON.parse(execFileSync('npm', pack, { ...options, cwd: resolve('packages/server') }));
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  execFileSync('npm', ['install', '--offline', '--no-audit', join(folder, packed.filename)], {
    ...options,
    cwd: folder,
  });
}

/**
 * Writes a block of a document as a module that imports the sources of `@claimcheck/server`, and returns its path.
 */
export async function writeServerModule(folder: string, name: string, code: string): Promise<string> {
  const outfile = join(folder, 'claimcheck-server.mjs');
  await build({ entryPoints: [resolve('packages/server/index.ts')], bundle: true, format: 'esm', outfile });
  const file = join(folder, name);
  writeFileSync(file, code.replace("'@claimcheck/server'", "'./claimcheck-server.mjs'"));
  return file;
}

/** Environment in which Python imports the sources of its package. */
export const pythonEnvironment = { PYTHONPATH: resolve('packages/server-python'), PYTHONDONTWRITEBYTECODE: '1' };

/** Starts a server that uses the package: in the folder of `installServerPackage`, or with the sources of Python. */
export function startServerClient(language: 'esm' | 'cjs' | 'python', folder: string): ServerClient {
  const file = join(folder, { esm: 'client.mjs', cjs: 'client.cjs', python: 'client.py' }[language]);
  const imports = {
    esm: `import { createRequire } from 'node:module';\nimport { ${names} } from '@claimcheck/server';\nconst require = createRequire(import.meta.url);`,
    cjs: `const { ${names} } = require('@claimcheck/server');`,
    python: '',
  }[language];
  writeFileSync(file, language === 'python' ? python : imports + javaScript);
  const env = { ...process.env, ...pythonEnvironment };
  const program = language === 'python' ? 'python3' : process.execPath;
  const child: ChildProcess = spawn(program, [file], { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting: ((line: string) => void)[] = [];
  let fail: (error: Error) => void = () => {};
  child.once('exit', (code) => fail(new Error(`The process ended with ${code}.`)));
  if (child.stdout) createInterface(child.stdout).on('line', (line) => waiting.shift()?.(line));
  return {
    async call(...call) {
      const line = await new Promise<string>((received, failed) => {
        waiting.push(received);
        fail = failed;
        child.stdin?.write(`${JSON.stringify(call)}\n`);
      });
      return JSON.parse(line);
    },
    stop: () => child.kill(),
  };
}
