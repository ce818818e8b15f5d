import Sequencer from '@jest/test-sequencer';

/** Tests that mostly wait: for processes, servers and limits of time. */
const WAITS = /[/]test[/](process|support|messages|events)[/]|[.]faults[.]ts$/;

/** If Jest does not know how long files take, those that wait come first: at the end none runs alone. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const waits = ({ path, duration }) => duration === undefined && WAITS.test(path);
    return [...sorted.filter(waits), ...sorted.filter((test) => !waits(test))];
  }
}
