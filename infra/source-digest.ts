import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Files and folders that determine a deployment, apart from its options. */
const sources = ['console', 'functions', 'infra', 'lib', 'package-lock.json'];

/**
 * Computes a digest of the code that a deployment of this folder consists of: 12 hexadecimal characters of its SHA-256.
 */
export const computeSourceDigest = (folder: string): string => computeDigest(folder, sources).slice(0, 12);

/**
 * Computes the SHA-256 of the names and the content of files and of the sources in folders, as hexadecimal characters.
 */
export function computeDigest(folder: string, paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of paths.flatMap((path) => listFiles(folder, path)).sort()) {
    const content = readFileSync(join(folder, file));
    hash.update(`${file}\n${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

function listFiles(folder: string, source: string): string[] {
  if (!statSync(join(folder, source)).isDirectory()) return [source];
  const files = readdirSync(join(folder, source), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.(?:tsx?|json|css|html|svg)$/.test(file))
    .map((file) => `${source}/${file.replaceAll('\\', '/')}`);
}
