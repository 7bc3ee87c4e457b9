"""Services of a streaming sink in a thread of their own: batches go on while they run."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hoodie.config.keys.inline import TABLE_SERVICES
from hoodie.engine import LocalEngine
from hoodie.errors import HoodieError
from hoodie.services.inline import InlineServices
from hoodie.services.sync import SYNC
from hoodie.storage import BasePath
from hoodie.table import HoodieTable

_log = logging.getLogger(__name__)


@dataclass
class ServicesBeside:
    """The services that the options of a sink ask for, at most one run of them at a time.

    The thread is not a daemon: a process ends when its run has ended. One that is killed leaves what a killed service leaves.
    """

    base_path: BasePath
    options: Mapping[str, object]
    _thread: threading.Thread | None = field(default=None, init=False)

    @property
    def write_options(self) -> Mapping[str, object]:
        """The options of a write that runs no service but a sync."""
        return {**self.options, TABLE_SERVICES.name: "false"}

    def start(self) -> bool:
        """Run the services unless they still run: then the next batch starts them. Return whether they were started."""
        if self._thread is not None and self._thread.is_alive():
            return False
        self._thread = threading.Thread(target=self._run, name="hoodie-stream-services")
        self._thread.start()
        return True

    def wait(self) -> None:
        """Wait until the services have ended."""
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        """A service that fails is in the log, and what it left is found by the next run."""
        try:
            services = InlineServices.of(self.options)
            steps = tuple(step for step in services.steps if step.service is not SYNC)
            replace(services, steps=steps).run(HoodieTable.open(self.base_path, engine=LocalEngine(1)).access)
        except (HoodieError, OSError) as error:
            _log.error("The services beside the stream into table %s did not run: %s", self.base_path, error)
