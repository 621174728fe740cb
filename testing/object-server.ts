import { buffer } from 'node:stream/consumers';
import { type HttpServer, startHttpServer } from '../local/http-server.ts';

/** Keys of a page of a list. S3 has 1,000; with few, a test shows that the client continues. */
const pageSize = 3;

/** A stand-in for Amazon S3 with URLs in path style: get, put and list. */
export interface ObjectServer extends HttpServer {
  /** Contents by bucket and key: `bucket/key`. */
  readonly objects: Map<string, Buffer>;
  /** Methods and paths of the accepted requests, such as `PUT bucket/key`. */
  readonly requests: string[];
  /** Errors that reject the next requests. */
  readonly failures: { readonly status: number; readonly code: string }[];
}

const toError = (code: string): string => `<Error><Code>${code}</Code><Message>${code}</Message></Error>`;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html */
export async function startObjectServer(): Promise<ObjectServer> {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  const failures: ObjectServer['failures'] = [];
  const list = (bucket: string, query: URLSearchParams): string => {
    const prefix = `${bucket}/${query.get('prefix') ?? ''}`;
    const keys = [...objects.keys()].filter((path) => path.startsWith(prefix)).sort();
    const start = Number(query.get('continuation-token') ?? 0);
    const page = keys.slice(start, start + pageSize).map((path) => path.slice(bucket.length + 1));
    const hasMore = start + pageSize < keys.length;
    const contents = page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
    const next = hasMore ? `<NextContinuationToken>${start + pageSize}</NextContinuationToken>` : '';
    return `<ListBucketResult><IsTruncated>${hasMore}</IsTruncated>${next}${contents}</ListBucketResult>`;
  };
  const server = await startHttpServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const path = decodeURIComponent(pathname.slice(1));
    const body = await buffer(request);
    const failure = failures.shift();
    if (failure) return void response.writeHead(failure.status).end(toError(failure.code));
    requests.push(`${request.method} ${path}`);
    if (request.method === 'PUT') {
      objects.set(path, body);
      return void response.writeHead(200, { etag: '"1"' }).end();
    }
    if (searchParams.get('list-type') === '2') return void response.end(list(path.replace(/\/$/, ''), searchParams));
    const content = objects.get(path);
    if (content) response.end(content);
    else response.writeHead(404).end(toError('NoSuchKey'));
  });
  return { ...server, objects, requests, failures };
}
