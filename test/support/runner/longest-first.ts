import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files with the longest waits, the longest single test or the most object calls. */
const LONGEST = [
  'test/pages/failures.test.ts',
  'test/contract/any-history.story.test.ts',
  'test/contract/fuzz-accounts.story.test.ts',
  'test/objects/entitlement-history.test.ts',
  'test/objects/entitlement-any-history.test.ts',
  'test/objects/entitlement-outbox.test.ts',
];

/** Starts long files first in each project, because a late one would leave all other workers idle at the end. */
export default class LongestFirst extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specs);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const rank = ({ project, moduleId }: TestSpecification) =>
      2 * projects.indexOf(project) - Number(LONGEST.includes(relative(project.config.root, moduleId)));
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}
