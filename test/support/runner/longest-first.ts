import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that wait longest for something no processor can hasten, whose one test takes longest, or that call objects most. */
const LONGEST = [
  'test/pages/failures.test.ts',
  'test/contract/any-history.story.test.ts',
  'test/contract/fuzz-accounts.story.test.ts',
  'test/objects/entitlement-history.test.ts',
  'test/objects/entitlement-any-history.test.ts',
  'test/objects/entitlement-outbox.test.ts',
];

/** Begun last, a long file would leave all other workers idle at the end: these begin first, each in its project. */
export default class LongestFirst extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specs);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const rank = ({ project, moduleId }: TestSpecification) =>
      2 * projects.indexOf(project) - Number(LONGEST.includes(relative(project.config.root, moduleId)));
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}
