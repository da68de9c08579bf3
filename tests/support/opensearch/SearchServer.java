package sqlstream.tests;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/** A node of OpenSearch on its own; it ends with its input. */
public final class SearchServer extends Node {
    private SearchServer(Environment environment) {
        super(environment, List.of(Netty4Plugin.class), false);
    }

    public static void main(String[] arguments) throws Exception {
        Settings settings = Settings.builder()
                .put("path.home", arguments[0])
                .put("network.host", arguments[1])
                .put("http.port", arguments[2])
                .put("transport.port", arguments[3])
                .put("transport.type", "netty4")
                .put("http.type", "netty4")
                .put("discovery.type", "single-node")
                .put("cluster.routing.allocation.disk.threshold_enabled", false)
                .build();
        Path configuration = Path.of(arguments[0], "config");
        new SearchServer(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), configuration, () -> "node"))
                .start();
        System.in.read();
        System.exit(0);
    }
}
