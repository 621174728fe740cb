import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../project-folder.ts';
import { documents } from './navigation.ts';

const folders = ['docs/images', 'docs/samples'];

/** Lists the files of the repository that the site shows. */
export const listSiteSources = (): string[] => [
  ...documents,
  ...folders.flatMap((folder) => readdirSync(join(projectFolder, folder)).map((name) => `${folder}/${name}`)),
];
