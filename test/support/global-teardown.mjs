export default function tearDown() {
  return globalThis.testRun.cleanUp();
}
