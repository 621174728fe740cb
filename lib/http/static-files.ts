import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** The response of a text file of the build. */
export interface StaticFile {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface StaticFilesOptions {
  /** Returns the headers of a file in addition to its content type and its ETag. */
  readonly getHeaders: (name: string) => Readonly<Record<string, string>>;
  /** Returns the content to send. Default: the content of the file. */
  readonly transform?: (name: string, text: string) => string;
}

/** Text files of a folder. */
interface StaticFiles {
  /** The local service writes the documentation after its start. */
  isFolderMissing(): boolean;
  /** Finds a file by its path in the folder. Only listed files are read, so no path leads out of the folder. */
  find(name: string): StaticFile | undefined;
}

const contentTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};

/** Reads the text files of a folder, each once. */
export function createStaticFiles(
  folder: URL,
  { getHeaders, transform = (_name, text) => text }: StaticFilesOptions,
): StaticFiles {
  const files = new Map<string, StaticFile>();
  let names: ReadonlySet<string> | undefined;
  const isFolderMissing = (): boolean => !existsSync(folder);
  const read = (name: string): StaticFile => {
    const body = transform(name, readFileSync(new URL(name, folder), 'utf8'));
    const type = contentTypes[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
    // Weak, because API Gateway compresses the body.
    const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    return { body, headers: { 'content-type': type, ...getHeaders(name), etag } };
  };
  return {
    isFolderMissing,
    find(name) {
      if (!names && isFolderMissing()) return undefined;
      names ??= listFiles(folder);
      if (!names.has(name)) return undefined;
      const file = files.get(name) ?? read(name);
      files.set(name, file);
      return file;
    },
  };
}

/** Lists the files of a folder and of its folders, by their paths with slashes. */
const listFiles = (folder: URL, prefix = ''): ReadonlySet<string> =>
  new Set(
    readdirSync(new URL(prefix, folder), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [...listFiles(folder, `${prefix}${entry.name}/`)] : [`${prefix}${entry.name}`],
    ),
  );
