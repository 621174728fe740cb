import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { once } from '../foundation/cache.ts';
import { type ErrorCode, ServiceError } from '../foundation/errors.ts';
import { minuteMs, secondMs } from '../foundation/time.ts';
import { parseBucketUrl } from './bucket-location.ts';
import { createBucketTarget } from './bucket-target.ts';
import type { ExportStorage, ObjectStore } from './export-target.ts';

/** The SDK repeats a request with a text, but not one with a stream. */
const maxUploads = 3;

/** A bucket can be in another region than the service. */
const client = once(
  () =>
    new S3Client({
      followRegionRedirects: true,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: 3 * secondMs, requestTimeout: 5 * minuteMs, throwOnRequestTimeout: true },
    }),
);

const objectStore = once(
  (): ObjectStore => ({
    async get(bucket, key) {
      const { Body } = await send(bucket, async () => {
        return await client().send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      });
      return Body as Readable;
    },
    async put(bucket, key, content) {
      await send(bucket, async () => {
        await client().send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: content }));
      });
    },
    async putFile(bucket, key, file) {
      const { size } = await stat(file);
      const upload = async () => {
        const input = { Bucket: bucket, Key: key, Body: createReadStream(file), ContentLength: size };
        await send(bucket, async () => await client().send(new PutObjectCommand(input)));
      };
      for (let attempt = 1; attempt < maxUploads; attempt++) {
        try {
          return await upload();
        } catch (error) {
          if (!(error instanceof ServiceError && error.retryable)) throw error;
        }
      }
      await upload();
    },
    async list(bucket, prefix) {
      const keys: string[] = [];
      let token: string | undefined;
      do {
        const input = { Bucket: bucket, Prefix: prefix, ContinuationToken: token };
        const { Contents = [], NextContinuationToken } = await send(bucket, async () => {
          return await client().send(new ListObjectsV2Command(input));
        });
        keys.push(...Contents.flatMap(({ Key }) => Key ?? []));
        token = NextContinuationToken;
      } while (token !== undefined);
      return keys;
    },
  }),
);

/** Opens the exports at a location such as `s3://bucket/prefix`. */
export const openBucketTarget = async (location: string): Promise<ExportStorage> =>
  await createBucketTarget(parseBucketUrl(location), objectStore());

const codes: Readonly<Record<string, ErrorCode>> = {
  AccessDenied: 'Forbidden',
  NoSuchBucket: 'ResourceNotFound',
  NoSuchKey: 'ResourceNotFound',
};

async function send<T>(bucket: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    const name = cause instanceof Error ? cause.name : '';
    const code = codes[name] ?? 'ConnectionFailed';
    const problem = codes[name] === undefined ? 'is unavailable. Try again later' : `rejected the request: ${name}`;
    throw new ServiceError(code, `The bucket ${bucket} ${problem}.`, { cause });
  }
}
